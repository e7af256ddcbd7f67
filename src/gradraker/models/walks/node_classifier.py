"""Predict classes of nodes."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.labels import LABELS, align_labels, encode_labels, sort_labels, to_label_array
from gradraker.metrics import LeftOutAccuracy
from gradraker.models.left_out import LeftOutClasses
from gradraker.models.walks.calibration import Calibration, calibration_error, fit_calibration
from gradraker.models.walks.iterative.left_out_predictors import average_rows
from gradraker.models.walks.judges import judge_classes
from gradraker.models.walks.solution import Solution
from gradraker.models.walks.walk_model import WalkModel


class NodeClassifier(ClassifierMixin, WalkModel):
    """Predict classes of nodes from a graph and the nodes that are known.

    Each node is described by where walks from it end, over one, two, three and many steps, and by
    its degrees; nodes that are described alike are predicted alike. Ridge regressions of one-hot
    classes on this description give scores, each a weighted sum over the known nodes; the parts of
    the description, their widths and the penalty are chosen on them. Probabilities are
    max(score, floor)^power, scaled to sum 1; floor and power make the known labels most likely when
    they are left out.

    Parameters
    ----------
    blocks, width, alpha, solver, direction, neighbours, reselect, tol, device, dtype, random_state
        As for :class:`NodeRegressor`.

    Attributes
    ----------
    nodes_, known_nodes_, unknown_nodes_ : ndarray
        Names of all nodes, of those whose class is known, and of the others.
    classes_ : ndarray
        Labels that are known: sorted where they can be, else in the order of the nodes.
    blocks_, kernel_, alpha_, solver_, device_, choice_, seed_
        As for :class:`NodeRegressor`.
    left_out_error_ : LeftOutAccuracy
        Estimate of the error, from known nodes that are left out one at a time.
    calibration_error_ : float
        Expected calibration error of leave-one-out probabilities.

    Examples
    --------
    >>> from gradraker import NodeClassifier
    >>> links = {"a": "xy", "b": "xy", "c": "uv", "d": "uv", "e": "xy", "f": "vu"}
    >>> links = {node: list(neighbours) for node, neighbours in links.items()}
    >>> model = NodeClassifier().fit(links, {"a": "red", "b": "red", "c": "blue", "d": "blue"})
    >>> model.predict(["e", "f"]).tolist()
    ['red', 'blue']
    >>> model.predict_proba(["e"]).shape, model.classes_.tolist()
    ((1, 2), ['blue', 'red'])
    """

    value_kind = LABELS
    are_classes = True

    def _encode(self, known: NDArray[Any]) -> NDArray[np.float64]:
        classes = self._classes
        Y = np.zeros((known.size, len(classes)))  # [N, K]
        Y[np.arange(known.size), encode_labels(known.tolist(), classes)] = 1.0
        return Y

    @property
    def _classes(self) -> list[Hashable]:
        return sort_labels([label for label in self._values.tolist() if label is not None])

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that are known: sorted where they can be, else in the order of the nodes."""
        check_is_fitted(self)
        return to_label_array(self._classes)

    # -- predictions -----------------------------------------------------------

    def predict(
        self, nodes: Any = None, *, return_interval: bool = False, coverage: float = 0.9
    ) -> NDArray[Any]:
        """Predict the classes of nodes of the graph.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph, known ones as well; default all whose classes are not known, in
            the order of ``unknown_nodes_``.
        return_interval : bool, default=False
            Must be False: classes have probabilities, see :meth:`predict_proba`.
        coverage : float
            Not used.

        Returns
        -------
        ndarray of shape (n,)
            Labels, as they were given.
        """
        if return_interval:
            raise ValueError("return_interval must be False: classes have no intervals")
        rows = self._find_rows(nodes)
        return self._to_labels(self._to_scores(self._get_solution().predict(rows)))

    def predict_proba(self, nodes: Any = None) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of ``classes_``, shape (n, K)."""
        rows = self._find_rows(nodes)
        return self._to_probabilities(self._to_scores(self._get_solution().predict(rows)))

    def predict_new(
        self,
        links: Any = None,
        *,
        attributes: Any = None,
        proba: bool = False,
        **graph_options: Any,
    ) -> Any:
        """Predict nodes that are not in the graph, from their links to nodes that are.

        Parameters
        ----------
        links : mapping or other graph
            As in :meth:`NodeRegressor.predict_new`.
        attributes : frame, array, sparse matrix or mapping, optional
            As in :meth:`NodeRegressor.predict_new`.
        proba : bool, default=False
            Whether to return probabilities of ``classes_`` in place of labels.
        **graph_options
            As in :meth:`fit`.

        Returns
        -------
        dict
            New node → label, or → array of shape (K,).
        """
        names, rows, at = self._append_rows(links, attributes, graph_options)
        scores = self._to_scores(self._get_solution().predict(rows, at))
        found = self._to_probabilities(scores) if proba else self._to_labels(scores).tolist()
        return dict(zip(names, found, strict=True))

    def score(self, nodes: Any, values: Any) -> float:
        """Part of the predictions that are right; ``values`` are the labels of ``nodes``."""
        rows = self._find_rows(nodes)
        labels = align_labels(list(values), np.arange(rows.size))
        predicted = self.predict(nodes).tolist()
        return float(np.mean([a == b for a, b in zip(labels, predicted, strict=True)]))

    def explain(self, nodes: Any = None, *, left_out: bool = False) -> LinearExplanation:
        """Explain scores of classes exactly, as in :meth:`NodeRegressor.explain`."""
        found = super().explain(nodes, left_out=left_out)
        return replace(found, class_names=self._classes)

    def predict_left_out(self) -> LeftOutClasses:
        """Predict known nodes without their own labels, one at a time."""
        scores, codes = self._predict_left_out_scores()
        solution = self._get_solution()
        p = self._calibration.compute_probabilities(scores)
        rows = solution.known  # the one known node, where nothing else is known
        if len(solution.Y) > 1:
            rows = rows[solution.predict_left_out().positions]
        predicted = scores.argmax(axis=1)
        error = self._measure_accuracy(p, predicted, codes)
        return LeftOutClasses(rows, codes, p, predicted, self.classes_, error)

    @property
    def left_out_error_(self) -> LeftOutAccuracy:
        """Estimate of the accuracy, from known nodes that are left out one at a time."""
        return self.predict_left_out().error

    @staticmethod
    def _measure_accuracy(
        p: NDArray[np.float64], predicted: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> LeftOutAccuracy:
        counts = np.bincount(codes, minlength=p.shape[1])
        return LeftOutAccuracy(
            float(np.mean(predicted == codes)),
            float(counts.max() / codes.size),
            float(-np.mean(np.log(np.maximum(p[np.arange(codes.size), codes], 1e-300)))),
            calibration_error(p, codes),
            codes.size,
        )

    @property
    def calibration_error_(self) -> float:
        """Expected calibration error of leave-one-out probabilities."""
        return self.left_out_error_.calibration_error

    @property
    def _calibration(self) -> Calibration:
        return fit_calibration(*self._predict_left_out_scores())

    def _choose_offset(self, solution: Solution) -> None:
        assert self._choice is not None
        if not self._choice.tried or not self._choice.kernel:
            return
        positions, predictions = solution.predict_left_out()[:2]
        trust = self._get_trust(solution.known)
        judge = judge_classes(
            solution.Y[positions],
            average_rows(solution.Y, trust),
            (1.0, 0.5, 0.0),
            None if trust is None else trust[positions],
        )
        self._choice = replace(self._choice, offset=judge(predictions)[1])

    def _to_scores(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add the offset of each class: a part of 1/K − its frequency, so scores still sum to 1."""
        solution = self._get_solution()
        frequencies = average_rows(solution.Y, self._get_trust(solution.known))
        part = 1.0 - self.choice_.offset
        return np.asarray(predictions + part * (1.0 / frequencies.size - frequencies))

    def _predict_left_out_scores(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        check_is_fitted(self)
        solution = self._get_solution()
        if len(solution.Y) == 1:  # nothing is left when the one known node is left out
            return solution.Y, solution.Y.argmax(axis=1)
        left_out = solution.predict_left_out()
        codes = solution.Y[left_out.positions].argmax(axis=1)
        return self._to_scores(left_out.predictions), codes

    def _to_probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._calibration.compute_probabilities(scores)

    def _to_labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        classes = self._classes
        return to_label_array([classes[i] for i in scores.argmax(axis=1).tolist()])
