"""Groups of options in the help texts."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

# Parameters by the title of their group.
FILE_OPTIONS = ("source", "target", "weight", "node", "value", "header", "values_header")
GRAPH_OPTIONS = ("directed", "direction", "self_loops", "unweighted", "unknown_nodes")
WALK_OPTIONS = ("hops", "hop_weights")
LEARNER_OPTIONS = ("sigma2", "noise", "kernel", "n_frequencies", "learning_rate", "n_epochs")
PAGE_OPTIONS = ("title", "unit", "number_language", "explain_nodes")

Groups = Mapping[str, Sequence[str]]
# Groups of the commands of the paper's learner.
SKG_GROUPS: Groups = {
    "Reading files": FILE_OPTIONS,
    "Graph": (*GRAPH_OPTIONS, *WALK_OPTIONS),
    "Learner": (*LEARNER_OPTIONS, "random_state"),
}


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups; the others come first."""

    def __init__(self, *args: Any, groups: Groups | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups = groups or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        title_of = {name: title for title, names in self.groups.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        sections |= {title: [] for title in self.groups}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[title_of.get(parameter.name or "", "Options")].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
