"""The studio of a service: computations for the last finished state, which are cached."""

from collections.abc import Callable
from functools import cached_property
from heapq import nsmallest
from typing import Any

import numpy as np

from gradraker.live.learning.states import State
from gradraker.live.service import Service
from gradraker.live.service.predictor import Predictor
from gradraker.models import NodeModel
from gradraker.models.left_out import LeftOut
from gradraker.report.explorer import pack
from gradraker.studio.answers.graph_parts import GraphPart, GraphParts
from gradraker.studio.answers.node_columns import (
    COVERAGE,
    average_columns,
    list_columns,
    pack_columns,
)
from gradraker.studio.answers.node_panel import explain_node, imagine_changes
from gradraker.studio.answers.sigma2_lab import LAB_ANSWERS, LabSettings, Sigma2Lab, make_lab
from gradraker.studio.stream import replay
from gradraker.studio.studio_options import StudioOptions

_MAX_FOUND = 12
# Fewer known nodes are not enough to measure errors.
_MIN_KNOWN = 3


class StateView:
    """Cached computations of the studio for one state. It is used by one thread only."""

    def __init__(self, state: State, options: StudioOptions) -> None:
        self.state = state
        self.options = options

    @cached_property
    def model(self) -> NodeModel:
        """A copy of the model for this thread."""
        return self.state.read_model()

    @cached_property
    def parts(self) -> GraphParts:
        """The parts of the graph."""
        return GraphParts(self.model, self.state.table.names, self.options)

    @cached_property
    def whole(self) -> GraphPart:
        """The whole graph, or an overview."""
        return self.parts.make_whole()

    @cached_property
    def lab(self) -> Sigma2Lab:
        """The paper's learner."""
        if self.options.dataset is not None:
            return Sigma2Lab(self.options.dataset)
        return make_lab(self.model, self.state.table.names)

    def ask_lab(self, name: str, settings: LabSettings) -> dict[str, Any]:
        """Return an answer of the paper's learner, by name."""
        return LAB_ANSWERS[name](self.lab, settings)

    @cached_property
    def columns(self) -> dict[str, Any]:
        """Columns that need no further computation."""
        return list_columns(self.state.table)

    @cached_property
    def uncertainty(self) -> dict[str, Any]:
        """Intervals and their widths, or the probability that the predicted class is wrong."""
        self._check_known()
        model, table = self.model, self.state.table
        if table.classes is not None:
            return {"uncertainty": 1.0 - model.predict_proba(model.nodes_).max(axis=1)}
        if not table.has_intervals:
            raise ValueError(f"{table.facts['class']} has no intervals")
        _, ends = model.predict(model.nodes_, return_interval=True, coverage=COVERAGE)
        lower, upper = np.asarray(ends, dtype=np.float64).T
        return {"lower": lower, "upper": upper, "uncertainty": upper - lower}

    @cached_property
    def left_out(self) -> dict[str, Any]:
        """Predictions of known nodes without their own value, and their errors."""
        self._check_known()
        if len(self.model.known_nodes_) < _MIN_KNOWN:
            raise ValueError(f"left-out errors need at least {_MIN_KNOWN} known values")
        left_out, errors = np.full((2, len(self.model.nodes_)), np.nan)
        found = self.model.predict_left_out()
        if isinstance(found, LeftOut):
            left_out[found.rows] = found.predictions
            errors[found.rows] = found.predictions - found.values
        else:
            left_out[found.rows] = found.predicted
            p_of_true = found.probabilities[np.arange(found.codes.size), found.codes]
            errors[found.rows] = 1.0 - p_of_true
        return {"left_out": left_out, "error": errors}

    def _check_known(self) -> None:
        if self.state.table.predictions is None:
            raise ValueError("no value is known yet: put values first")

    def find_part(self, kind: str, number: int) -> GraphPart:
        """Return a part of the graph."""
        if kind == "community":
            return self.parts.make_community(number)
        return self.parts.make_surroundings(number) if kind == "around" else self.whole

    def describe_part(self, kind: str, number: int) -> dict[str, Any]:
        """Return a part of the graph with its columns, for the page."""
        if not self.state.table.names:
            raise ValueError("the service has no graph yet: put edges first")
        part = self.find_part(kind, number)
        table, options = self.state.table, self.options
        is_overview = part.kind == "overview"
        names = (
            [f"community {i + 1}" for i in part.rows.tolist()]
            if is_overview
            else [table.names[i] for i in part.rows.tolist()]
        )
        return {
            "state": table.seq,
            "kind": part.kind,
            "number": number,
            "title": options.title,
            "unit": options.unit,
            "task": "values" if table.classes is None else "classes",
            "classes": None if table.classes is None else [str(label) for label in table.classes],
            "n_nodes": len(table.names),
            "n_edges": table.facts["edges"],
            "n_known": table.facts["known"],
            "is_directed": bool(table.facts["directed"]),
            "is_large": self.parts.is_large,
            "has_intervals": table.has_intervals,
            "model": table.facts["class"],
            "coordinates": list(self.parts.coordinate_names) if part.has_coordinates else None,
            "n_left_out": part.n_left_out,
            "names": names,
            "rows": pack(part.rows, "<u4"),
            "x": pack(part.positions[:, 0], "<f4"),
            "y": pack(part.positions[:, 1], "<f4"),
            "edges": pack(part.edges.ravel(), "<u4"),
            "edge_weights": pack(part.edge_weights, "<f4"),
            "sizes": None if part.sizes is None else pack(part.sizes, "<u4"),
            "columns": self._pack(self.columns, part),
        }

    def describe_columns(self, which: str, kind: str, number: int) -> dict[str, Any]:
        """Return columns that are computed on demand, for the nodes of a part."""
        columns = self.uncertainty if which == "uncertainty" else self.left_out
        part = self.find_part(kind, number)
        return {"state": self.state.table.seq, "columns": self._pack(columns, part)}

    def _pack(self, columns: dict[str, Any], part: GraphPart) -> dict[str, str]:
        if part.members is None:
            return pack_columns(columns, part.rows)
        if self.state.table.classes is not None and "probability" not in columns:
            columns = columns | {"probability": self.columns["probability"]}
        averaged = average_columns(columns, part.members, part.rows.size)
        return pack_columns(averaged, part.rows)

    def explain(self, row: int, *, left_out: bool) -> dict[str, Any]:
        """Return the panel of a node; the page caches the last ones."""
        self._check_known()
        table = self.state.table
        found = explain_node(self.model, row, left_out=left_out, has_intervals=table.has_intervals)
        others = [[table.names[j], *rest] for j, *rest in found["neighbours"]]
        return found | {"state": table.seq, "neighbours": others}

    def describe_known(self) -> dict[str, Any]:
        """Return rows, names and values of all known nodes, which weights refer to."""
        table = self.state.table
        rows = np.flatnonzero(table.is_known)
        return {
            "state": table.seq,
            "rows": pack(rows, "<u4"),
            "names": [table.names[i] for i in rows.tolist()],
            "values": pack(self.columns["value"][rows], "<f8"),
        }

    def imagine(
        self, row: int, links: dict[int, float], values: dict[int, float]
    ) -> dict[str, Any]:
        """Return the effect of imagined links of a node, or of imagined known values."""
        self._check_known()
        table = self.state.table
        found = imagine_changes(self.model, row, links, values)
        moved = [[table.names[i], before, after] for i, before, after in found["moved"]]
        return found | {"state": table.seq, "node": table.names[row], "moved": moved}

    def replay(self, seed: int) -> dict[str, Any]:
        """Return the known values in random order, each predicted before it was learned."""
        self._check_known()
        found = replay(self.model, seed=seed)
        names = self.state.table.names
        arrivals = [[names[i], *rest] for i, *rest in found["arrivals"]]
        return found | {"state": self.state.table.seq, "arrivals": arrivals}

    def search(self, text: str) -> dict[str, Any]:
        """Return nodes whose names contain a text, those that begin with it first."""
        wanted = text.casefold()
        found = (name for name in self.state.table.names if wanted in name.casefold())
        first = nsmallest(_MAX_FOUND, found, key=lambda n: not n.casefold().startswith(wanted))
        return {"nodes": first}


class Studio:
    """Threads that compute answers for the page; slow answers have separate threads."""

    def __init__(self, service: Service, options: StudioOptions) -> None:
        self.service = service
        self.options = options
        self._views: dict[str, StateView] = {}
        self._threads: dict[str, Predictor] = {}

    async def ask(self, work: Callable[[StateView], Any], *, thread: str = "studio") -> Any:
        """Run a function of the current state on a thread of the studio."""
        state = self.service.get_state()
        if thread not in self._threads:
            self._threads[thread] = Predictor(thread, max_waiting=50)
            self._threads[thread].start()
        return await self._threads[thread].call(state, lambda: work(self._find_view(state, thread)))

    def _find_view(self, state: State, thread: str) -> StateView:
        """Return the view of a state for a thread; views of older states are dropped."""
        view = self._views.get(thread)
        if view is None or view.state is not state:
            view = self._views[thread] = StateView(state, self.options)
        return view

    def describe(self) -> dict[str, Any]:
        """Return the facts about the service that the page needs."""
        stream, settings = self.options.stream, self.service.settings
        return {
            "title": self.options.title,
            "unit": self.options.unit,
            "token_for": settings.token_for,
            "stream": None if stream is None else stream.is_on,
            "is_snapshot": False,
        }
