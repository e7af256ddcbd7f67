"""Fixtures that tests of several rooms share."""

import pytest
from click.testing import CliRunner

from gradraker.cli import main


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory):
    """Folder and output of ``gradraker reproduce --fast`` with the embedded data alone."""
    folder = tmp_path_factory.mktemp("reproduced") / "a" / "paper"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADRAKER_DATA", str(folder / "nothing"))
        result = CliRunner().invoke(main, ["reproduce", "--fast", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result.output
