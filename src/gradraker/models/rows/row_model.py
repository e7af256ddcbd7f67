"""What models of rows share: training, at once or in chunks, and files."""

import os
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import Bounds, check_bounds, check_flag
from gradraker.explain.learned_rows import Record
from gradraker.features import References, RowArrays, check_references
from gradraker.kernels.ranges import Sigma2Ranges, compute_ranges, find_extreme_pairs
from gradraker.linear.lms import draw_epoch_orders
from gradraker.models.persistence.saving import (
    Arrays,
    State,
    read_model_of,
    save_model,
    write_model,
)
from gradraker.models.rows.row_input import (
    check_frequencies_known,
    check_same_features,
    find_row_names,
    renumber_columns,
    validate_tested,
    validate_training,
)
from gradraker.models.turns import TakesTurns, rollback_on_error


class RowModel(TakesTurns, BaseEstimator):
    """Fit, continue, save and load; subclasses say how to start, train and dump their state."""

    # Smallest and largest value of each parameter that is a number.
    bounds: ClassVar[Bounds]

    coef_: NDArray[np.float64]
    seed_: int
    n_seen_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    learning_rate: Any
    n_epochs: Any
    shuffle: bool
    _record: Record | None
    _table: Any
    _n_first: int
    # Whether rows can be turned into features here.
    _knows_frequencies: bool = True

    # -- training --------------------------------------------------------------

    @rollback_on_error
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
        tested: Any = None,
    ) -> Self:
        """Forget what was learned and train ``n_epochs`` times on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors, one row a node.
        y : array-like of shape (n,) or (n, n_targets)
            Values of the nodes.
        references : sequence of M names, optional
            Names of the columns of X.
        node_names : sequence of n names, optional
            Names of the rows, for :meth:`explain`; default the index of a pandas data frame.
        tested : {array-like, sparse matrix, data frame} of shape (m, M), optional
            Adjacency vectors of nodes that will be predicted, with the columns of X. The rule
            ``"refined"`` for σ² measures the noise range on them; see :func:`sigma2_ranges`.

        Returns
        -------
        self
        """
        self.check_parameters()
        check_bounds(self.bounds, self.get_params())
        names = find_row_names(X, node_names)
        X, y = validate_training(self, X, y, references, first=True)
        tested = validate_tested(self, tested, references, X.shape[1])
        self._start(X, y, references, tested)
        orders = draw_epoch_orders(
            self.seed_, X.shape[0], self._get_n_epochs(), shuffle=self.shuffle
        )
        self._train(X, y, orders, names)
        return self

    @rollback_on_error
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
    ) -> Self:
        """Train once on each row, in the given order, continuing from what was learned.

        Any cut of the same rows into calls gives the same model, bit for bit. Rules for σ² are
        resolved on the first chunk, and kept.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors, one row a node.
        y : array-like of shape (n,) or (n, n_targets)
            Values of the nodes.
        references : sequence of M names, optional
            Names of the columns of X; names that are new become new referencing nodes.
        node_names : sequence of n names, optional
            Names of the rows, as in :meth:`fit`.

        Returns
        -------
        self
        """
        self.check_parameters()
        first = not hasattr(self, "coef_")
        if first:
            check_bounds(self.bounds, self.get_params())
            self._refuse_auto("partial_fit")
        else:
            check_frequencies_known(self._knows_frequencies)
        names = find_row_names(X, node_names)
        X, y = validate_training(self, X, y, references, first=first)
        if first:
            self._start(X, y, references, None)
        elif references is not None:
            columns = check_references(references, X.shape[1])
            self._check_new_names(columns)
            self._table.add_missing(columns)
            X = renumber_columns(X, columns, self._table)
        self._train(X, y, [np.arange(X.shape[0])], names)
        return self

    # -- what was learned ------------------------------------------------------

    @property
    def references_(self) -> Sequence[Hashable]:
        """Names of the referencing nodes, in the order in which they came."""
        check_is_fitted(self, "coef_")
        names: Sequence[Hashable] = self._table.names
        return names

    def _find_ranges(
        self, kernel: str, select: Callable[[RowArrays], RowArrays] = lambda rows: rows
    ) -> Sigma2Ranges:
        """The four ranges of σ² for the rows of ``fit``, or of the first chunk."""
        if self._record is None or self._n_first == 0:
            raise AttributeError(
                "ranges_ needs rows of fit or of the first chunk that differ: "
                "use gradraker.sigma2_ranges(X)"
            )
        rows = select(self._record.to_learned_rows().rows)
        try:
            first = rows.take_first(self._n_first, len(self._table))
            pairs = find_extreme_pairs(first, kernel=kernel)
        except ValueError as error:
            raise AttributeError(f"ranges_ does not exist: {error}") from None
        return compute_ranges(pairs, n_frequencies=self._table.n_frequencies)

    # -- files -----------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        notes: dict[str, Any] | None = None,
        observed: bool = True,
        only_if_unchanged: bool = False,
    ) -> Path:
        """Write the model to a file, complete or not at all, without pickle.

        :func:`gradraker.load` reads it. A ``random_state`` that is a generator is saved as
        the seed that was drawn from it.

        Parameters
        ----------
        path : path-like
            Where to write; an older file is replaced.
        notes : dict, optional
            Further facts to keep in the file, such as how the rows were made: anything that
            JSON can hold. :func:`gradraker.models.read_notes` returns it.
        observed : bool, default=True
            Whether the file holds the known nodes: their rows, names and values, and the order of
            training. Without them the file predicts and learns on, but cannot explain; θ, the
            seed, and names of referencing nodes stay. ``docs/theory/privacy.md`` says what they
            give away.
        only_if_unchanged : bool, default=False
            Whether to raise :class:`gradraker.exceptions.ModelFileChangedError` if another
            program has written the file since this model was loaded from it or saved to it.

        Returns
        -------
        Path
        """
        self._check_savable()
        dump = self.dump_state if check_flag("observed", observed) else self._dump_without_rows
        return save_model(self, path, notes, dump, only_if_unchanged=only_if_unchanged)

    def _dump_without_rows(self) -> tuple[State, Arrays]:
        """What a file holds without the known nodes."""
        state, arrays = self.dump_state()
        state |= {"has_rows": False, "known_names": None, "n_first": 0}
        kept = {name: one for name, one in arrays.items() if not name.startswith("learned_")}
        return state, kept

    def write_to(self, file: BinaryIO, *, notes: dict[str, Any] | None = None) -> None:
        """Write to an open binary file what :meth:`save` writes to a path."""
        self._check_savable()
        write_model(self, file, notes, self.dump_state)

    def _check_savable(self) -> None:
        check_is_fitted(self, "coef_")
        self.check_parameters()
        check_same_features(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote; it continues training bit for bit."""
        return read_model_of(cls, path)

    # -- scikit-learn ----------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    # -- the parts that a subclass provides -------------------------------------

    @property
    def _rate(self) -> float:
        """Learning rate of the next step."""
        return float(self.learning_rate)

    def _get_n_epochs(self) -> int:
        """Passes of ``fit`` over the rows."""
        return int(self.n_epochs)

    def _refuse_auto(self, method: str) -> None:
        """Refuse settings that only ``fit`` can choose."""

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        raise NotImplementedError

    def _start(self, X: Any, y: NDArray[np.float64], references: Any, tested: Any) -> None:
        """Set all that stays as it is while the model learns."""
        raise NotImplementedError

    def _train(
        self,
        X: Any,
        y: NDArray[np.float64],
        orders: list[NDArray[np.int64]],
        names: Sequence[Hashable] | None,
    ) -> None:
        """Train on rows in some orders, one after the other."""
        raise NotImplementedError

    @property
    def _targets(self) -> tuple[int, ...]:
        """Shape of the value of one node: empty for a single number."""
        raise NotImplementedError

    def _list_fixed_parameters(self) -> dict[str, tuple[Any, Any]]:
        """Parameters that features depend on, as set now and as used when they were drawn."""
        raise NotImplementedError

    def _check_new_names(self, columns: Sequence[Hashable]) -> None:
        """Refuse names of columns that cannot be added later."""

    def dump_state(self) -> tuple[State, Arrays]:
        """Return what a file holds besides the parameters."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Self:
        """Make the model that a file describes."""
        raise NotImplementedError
