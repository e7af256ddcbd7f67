"""How SKG starts: the settings that stay while it learns, be it with rows or without."""

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_bounds, is_auto, make_seed
from gradraker.explain.learned_rows import Record
from gradraker.features import FrequencyTable, check_references
from gradraker.kernels.ranges import Sigma2Ranges
from gradraker.models.rows.row_model import RowModel
from gradraker.models.sigma2 import (
    ChosenSigma2,
    RuleInput,
    check_tested_is_used,
    choose_sigma2,
)
from gradraker.models.skg.auto_settings import AskedSettings, choose_sigma2_and_settings


class StartingSKG(RowModel):
    """The part of :class:`SKGRegressor` that chooses settings and makes the first θ."""

    kernel: str
    sigma2: Any
    n_frequencies: Any
    random_state: Any
    keep_known: bool
    sigma2_: float
    _ranges: Sigma2Ranges | None
    _table: FrequencyTable

    def _start(self, X: Any, y: NDArray[np.float64], references: Any, tested: Any) -> None:
        """Set all that stays as it is while the model learns."""
        if references is None:
            references = getattr(self, "feature_names_in_", None)
        seed, kernel, n_columns = make_seed(self.random_state), self.kernel, X.shape[1]
        Y = y.reshape(y.shape[0], -1)  # [n, K]
        nodes: dict[str, Any] = {"n_numbered": n_columns}
        if references is not None:
            nodes = {"named": check_references(references, n_columns)}

        def make_sample(n_frequencies: int, learning_rate: float, n_epochs: int) -> RuleInput:
            table = FrequencyTable(seed, n_frequencies, kernel, **nodes)
            return RuleInput(X, Y, table, learning_rate, n_epochs, tested)

        check_tested_is_used(tested, (self.sigma2,))
        D, rate, n_epochs = self.n_frequencies, self.learning_rate, self.n_epochs
        if any(map(is_auto, (self.sigma2, D, rate, n_epochs))):
            asked = AskedSettings(self.sigma2, rate, n_epochs, D)
            choice, sample = choose_sigma2_and_settings(asked, make_sample)
        else:
            sample = make_sample(int(D), float(rate), int(n_epochs))
            choice = choose_sigma2(self.sigma2, sample)
        self._set_initial_state(sample.table, choice, y.shape[1:])
        self.learning_rate_, self.n_epochs_ = sample.learning_rate, sample.n_epochs
        self._n_first = X.shape[0]
        if self._ranges is None and not self.keep_known:
            # The rows will not be there later, and rows without a distance have no ranges.
            with suppress(ValueError):
                self._ranges = sample.ranges

    @property
    def _rate(self) -> float:
        """Learning rate of the next step; one that was given may be changed at any time."""
        return self.learning_rate_ if is_auto(self.learning_rate) else float(self.learning_rate)

    def _get_n_epochs(self) -> int:
        return self.n_epochs_

    def _refuse_auto(self, method: str) -> None:
        for name in ("n_frequencies", "learning_rate", "n_epochs"):
            if is_auto(getattr(self, name)):
                raise ValueError(
                    f"{name}='auto' is chosen by fit on many rows, and {method} came first: give "
                    "a number, or call fit"
                )

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        """Start without rows, for the first node of :meth:`learn_one`."""
        self.check_parameters()
        self._refuse_auto("learn_one or learn_features")
        check_bounds(self.bounds, self.get_params())
        if isinstance(self.sigma2, str):
            raise ValueError(
                f"sigma2={self.sigma2!r} is a rule that needs rows to choose from, and learn_one "
                "brings a single node: give sigma2 as a number, or call fit or partial_fit first"
            )
        table = FrequencyTable(make_seed(self.random_state), self.n_frequencies, self.kernel)
        self._set_initial_state(table, ChosenSigma2(float(self.sigma2)), targets)
        self.learning_rate_, self.n_epochs_ = float(self.learning_rate), int(self.n_epochs)

    def _set_initial_state(
        self, table: FrequencyTable, choice: ChosenSigma2, targets: tuple[int, ...]
    ) -> None:
        self._table = table
        self.seed_ = table.seed
        self.n_frequencies_ = table.n_frequencies
        self._knows_frequencies = True
        self.sigma2_ = choice.sigma2
        self.sigma2_rule_ = self.sigma2 if isinstance(self.sigma2, str) else "given"
        self._ranges = choice.ranges
        self._n_first = 0
        self.coef_ = np.zeros((*targets, 2 * table.n_frequencies))  # θ₀ = 0
        self.n_seen_ = 0
        self._record = Record() if self.keep_known else None

    @property
    def _scale(self) -> float:
        return 1.0 / math.sqrt(self.sigma2_)

    @property
    def _targets(self) -> tuple[int, ...]:
        """Shape of the value of one node."""
        return self.coef_.shape[:-1]
