"""A PostgreSQL server of its own in a temporary folder, started and stopped by tests."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest


def find_programs() -> Any:
    """Return the folder of the server's programs, or None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: one.parent.name)
    return next((one for one in reversed(folders) if (one / "initdb").exists()), None)


def find_user() -> Any:
    """Return a user that may run the server, which refuses to run as root; None for ourselves."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


class PostgresServer:
    """A server that listens on a socket in its folder."""

    def __init__(self) -> None:
        self._programs = find_programs()
        if self._programs is None:
            pytest.skip("PostgreSQL is not installed")
        self._user = find_user()
        self.folder = Path(tempfile.mkdtemp(prefix="gradraker-postgres-"))
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-D", "data", "-U", "test", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()

    def _run(self, program: Any, *arguments: Any) -> Any:
        subprocess.run(
            [self._programs / program, *arguments],
            cwd=self.folder,
            user=self._user,
            check=True,
            capture_output=True,
            timeout=120,
        )

    def start(self) -> Any:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        arguments = ("-D", "data", "-l", "log", "-w", "-o", options)
        # Not captured: the server would keep the pipe open.
        subprocess.run(
            [self._programs / "pg_ctl", "start", *arguments],
            cwd=self.folder,
            user=self._user,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )

    def stop(self) -> Any:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "stop", "-D", "data", "-m", "immediate", "-w")

    def make_database(self, name: Any) -> Any:
        """Make a database and return its URL."""
        self._run("createdb", "-h", str(self.folder), "-U", "test", name)
        return f"postgresql://test@/{name}?host={self.folder}"

    def close(self) -> Any:
        self.stop()
        # Thousands of files: removing them takes seconds, for which nobody waits.
        os.posix_spawnp("rm", ["rm", "-rf", str(self.folder)], os.environ)
