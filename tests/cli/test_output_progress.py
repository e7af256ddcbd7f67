"""Progress: shown on a terminal when the work takes a while, and silent elsewhere."""

import errno
import io
import sys
import time

import click
import pytest

from gradraker.cli import output


def test_progress_is_silent_off_a_terminal_and_quick_on_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "DELAY_SECONDS", 0.01)
    with output.StatusLine() as status:
        status.show_stage("training")
        time.sleep(0.1)
    assert status._timer.ident is None  # never started: rich need not even be loaded
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with output.StatusLine() as status:
        status.set_file("edges.csv")
        status.show_progress("reading", 5, 10)
        time.sleep(0.5)
        status.show_stage("training [bold]")
        time.sleep(0.3)
        status.show_progress("solving", 5, 10)
        time.sleep(0.3)
    shown = capsys.readouterr().err
    assert "reading edges.csv" in shown
    assert "training [bold]" in shown
    assert "solving" in shown
    assert "solving edges.csv" not in shown  # a stage is not about the file before it


def test_the_progress_bar_does_not_start_after_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with output.StatusLine() as status:
        pass
    status._start()  # as the timer does if loading rich takes longer than the work
    assert status._bar is None


def test_a_full_disk_behind_standard_error_does_not_stop_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class FullDisk(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", FullDisk())
    with pytest.raises(OSError, match="No space left"):
        click.echo("a note", err=True)
    with output.StatusLine() as status:
        status.print_note("a note")
