"""Options in groups, in the help of commands."""

from typing import Any


def test_help_groups_options_and_names_only_those_of_the_command(run: Any) -> None:
    text = run("predict", "--help").stdout
    skg = text.split("Only with --method skg:")[1]
    for option in ("--sigma2", "--kernel", "--frequencies", "--epochs", "--hops"):
        assert option in skg
    assert "--coverage" not in skg
    for command in ("ranges", "sweep"):
        assert "--method" not in run(command, "--help").stdout
