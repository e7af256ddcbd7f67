"""Random Fourier features: accuracy of sines and cosines, equation (1), references, threads."""

import copy
import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gradraker._compiled.skg import sincos
from gradraker.features import (
    FrequencyTable,
    as_rows,
    check_references,
    feature_chunks,
    fourier,
    fourier_features,
    frequencies,
    linear_predictions,
    reference_identity,
    rows_a_chunk,
)
from gradraker.features import parallel as threads
from gradraker.features.identities import reference_identities
from gradraker.kernels.shift_invariant import KERNELS
from oracles import skg as oracle

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)

# Where long double is no wider than double, the reference itself is off by half a unit.
WIDE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
ONE_ULP = 2.3e-16 if WIDE else 3.4e-16


# -- sines and cosines -------------------------------------------------------------------------


def sincos_error(x, scale=1.0):
    """Largest absolute error of sines and cosines of scale * x."""
    x = np.asarray(x, dtype=np.float64)
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, scale, 1.0, sine, cosine)
    angle = (x * scale).astype(np.longdouble)
    return max(np.abs(sine - np.sin(angle)).max(), np.abs(cosine - np.cos(angle)).max())


@pytest.mark.parametrize(
    "size", [1e-310, 1e-20, 1e-4, 1.0, 3.2, 50.0, 1e3, 1e5, 1e6, 1.1e6, 1e9, 1e16, 1e100, 1.7e308]
)
def test_sincos_over_ranges(size):
    x = np.random.default_rng(0).uniform(-1, 1, 20_000) * size
    assert sincos_error(x) < ONE_ULP


def test_sincos_around_multiples_of_half_pi():
    # Up to 10⁶, where the reduction ends, and each with its neighbours in float64.
    k = np.unique(np.concatenate([np.arange(-2000, 2001), np.arange(-636_700, 636_701, 997)]))
    x = k * (math.pi / 2)
    for _ in range(3):
        assert sincos_error(x) < ONE_ULP
        x = np.nextafter(x, np.inf)
    # Between the multiples, where the quadrant changes.
    x = (k + 0.5) * (math.pi / 2)
    for _ in range(3):
        assert sincos_error(x) < ONE_ULP
        x = np.nextafter(x, -np.inf)


def test_sincos_at_the_ends_of_the_fast_path():
    end = 1.0e6
    x = np.array([end, np.nextafter(end, 0), np.nextafter(end, np.inf), end - 1, end + 1])
    assert sincos_error(np.concatenate([x, -x])) < ONE_ULP


def test_sincos_of_small_arguments_is_relatively_accurate():
    x = np.concatenate([np.geomspace(1e-300, 0.5, 5000), [5e-324, 0.0]])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, 1.0, 1.0, sine, cosine)
    np.testing.assert_allclose(sine, np.sin(x), rtol=3e-16, atol=0)
    assert cosine[-1] == 1.0
    assert sine[-1] == 0.0


def test_sincos_is_odd_and_even():
    x = np.random.default_rng(1).normal(size=1000) * 100
    out = np.empty((4, 1000))
    sincos(x, 1.0, 1.0, out[0], out[1])
    sincos(-x, 1.0, 1.0, out[2], out[3])
    np.testing.assert_allclose(out[2], -out[0], rtol=0, atol=ONE_ULP)
    np.testing.assert_allclose(out[3], out[1], rtol=0, atol=ONE_ULP)


def test_sincos_scales_argument_and_amplitude():
    x = np.linspace(-9, 9, 101)
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, 0.5, 3.0, sine, cosine)
    np.testing.assert_allclose(sine, 3 * np.sin(x / 2), rtol=0, atol=1e-15)
    np.testing.assert_allclose(cosine, 3 * np.cos(x / 2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sincos_of_what_is_not_finite_is_nan_there_only(bad):
    x = np.array([1.0, bad, 2.0e7, -3.0])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, 1.0, 1.0, sine, cosine)
    np.testing.assert_array_equal(np.isnan(sine), [False, True, False, False])
    np.testing.assert_array_equal(np.isnan(cosine), [False, True, False, False])
    assert sincos_error([1.0, 2.0e7, -3.0]) < ONE_ULP


def test_sincos_writes_float32_rounded_once():
    x = np.random.default_rng(2).normal(size=500) * 10
    wide, narrow = np.empty((2, 500)), np.empty((2, 500), dtype=np.float32)
    sincos(x, 1.0, 1.0, wide[0], wide[1])
    sincos(x, 1.0, 1.0, narrow[0], narrow[1])
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))


# -- features, equation (1) --------------------------------------------------------------------


def table_for(n_columns, n_frequencies, *, kernel="gaussian", seed=0):
    return FrequencyTable(seed, n_frequencies, kernel, n_numbered=n_columns)


def features_of(X, *, n_frequencies=9, sigma2=1.0, kernel="gaussian", dtype=np.float64, seed=0):
    rows = as_rows(X)
    table = table_for(X.shape[1], n_frequencies, kernel=kernel, seed=seed)
    units = table.prepare(rows.indices)
    return fourier_features(rows, units, 1 / math.sqrt(sigma2), dtype=dtype)


@EVERY_KERNEL
@pytest.mark.parametrize("n_neighbours", [0, 1, 2, 3, 4, 5, 7, 8, 9, 13])
def test_features_equal_equation_1(kernel, n_neighbours):
    # Neighbours are summed four at a time, so numbers around multiples of four count.
    rng = np.random.default_rng(n_neighbours)
    X = np.zeros((3, 13))
    for row in X:
        row[rng.permutation(13)[:n_neighbours]] = rng.normal(size=n_neighbours)
    table = table_for(13, 11, kernel=kernel)
    expected = oracle.features(X, table.frequencies(1 / 1.5))
    found = features_of(X, n_frequencies=11, sigma2=2.25, kernel=kernel)
    # Cauchy frequencies reach some hundreds here, whose angles are rounded to 1e-13.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_features_by_hand():
    units = np.array([[1.0, 2.0], [0.5, -1.0]], dtype=np.float32)
    Z = fourier_features(as_rows(np.array([[1.0, 2.0]])), units, 0.5)
    # Projections: 1 + 2·0.5 = 2 and 2 − 2 = 0, halved.
    expected = np.array([[math.sin(1), 0.0, math.cos(1), 1.0]]) / math.sqrt(2)
    np.testing.assert_allclose(Z, expected, rtol=1e-15)


@EVERY_KERNEL
def test_angles_beyond_a_million(kernel):
    # Weights that are powers of 2 keep the angles exact, so the libm path shows its own error.
    X = np.ldexp(np.eye(6), np.array([[20, 24, 30, 40, 60, 900]]).T)
    table = table_for(6, 50, kernel=kernel)
    assert np.abs(X @ table.frequencies(1.0)).min() > 1e3
    expected = oracle.features(X, table.frequencies(1.0))
    np.testing.assert_allclose(
        features_of(X, n_frequencies=50, kernel=kernel), expected, atol=1e-16
    )


FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)


@EVERY_KERNEL
@given(
    row=st.lists(FINITE, min_size=1, max_size=6),
    n_frequencies=st.integers(1, 200),
    sigma2=st.floats(1e-6, 1e6),
    seed=st.integers(0, 2**64 - 1),
)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_features_have_norm_one(kernel, row, n_frequencies, sigma2, seed):
    X = np.array([row])
    options = {"n_frequencies": n_frequencies, "sigma2": sigma2, "kernel": kernel, "seed": seed}
    Z = features_of(X, **options)
    assert Z.shape == (1, 2 * n_frequencies)
    assert np.linalg.norm(Z) == pytest.approx(1.0, abs=1e-14)
    # 400 float32 numbers, each rounded to 6e-8 of itself.
    assert np.linalg.norm(features_of(X, **options, dtype=np.float32)) == pytest.approx(1, abs=1e-6)


@EVERY_KERNEL
@given(power=st.integers(-200, 200), seed=st.integers(0, 1000))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_scaling_rows_and_sigma_together_changes_nothing(kernel, power, seed):
    X = np.random.default_rng(seed).normal(size=(4, 5))
    Z = features_of(X, sigma2=2.0, kernel=kernel)
    scaled = features_of(np.ldexp(X, power), sigma2=math.ldexp(2.0, 2 * power), kernel=kernel)
    # Powers of 2 scale without rounding, all the way through the square root.
    np.testing.assert_array_equal(scaled, Z)


def test_scaling_by_any_factor_changes_rounding_only():
    X = np.random.default_rng(0).normal(size=(20, 5))
    Z = features_of(X, sigma2=2.0)
    np.testing.assert_allclose(features_of(X * 0.37, sigma2=2.0 * 0.37**2), Z, rtol=0, atol=1e-14)


def test_a_row_of_zeros_has_sines_zero_and_cosines_one():
    Z = features_of(np.zeros((1, 4)), n_frequencies=25)
    np.testing.assert_array_equal(Z, [[0.0] * 25 + [0.2] * 25])


def test_dense_and_sparse_formats_give_equal_features():
    X = np.random.default_rng(0).normal(size=(8, 10)) * (np.arange(10) % 3 == 0)
    Z = features_of(X)
    with_zeros = sparse.csr_array((X.ravel(), np.tile(np.arange(10), 8), np.arange(0, 81, 10)))
    assert with_zeros.nnz == 80
    for rows in (sparse.csr_array(X), sparse.csr_matrix(X), with_zeros):
        np.testing.assert_array_equal(features_of(rows), Z)


def test_entries_stored_twice_add_up():
    twice = sparse.csr_array(([0.5, 1.0, 0.5], [2, 0, 2], [0, 3]), shape=(1, 3))
    np.testing.assert_allclose(
        features_of(twice), features_of(np.array([[1.0, 0.0, 1.0]])), rtol=0, atol=1e-15
    )


def test_64_bit_indices():
    X = sparse.csr_array(np.eye(4))
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert as_rows(wide).indices.dtype == np.int32
    np.testing.assert_array_equal(features_of(wide), features_of(X))


def test_chosen_rows_in_a_chosen_order():
    X = np.random.default_rng(0).normal(size=(6, 3))
    rows, units = as_rows(X), table_for(3, 4).prepare(np.arange(3, dtype=np.int32))
    order = np.array([5, 0, 0, 3])
    np.testing.assert_array_equal(
        fourier_features(rows, units, 1.0, order=order), fourier_features(rows, units, 1.0)[order]
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_chunks_are_the_features_cut_into_pieces(monkeypatch, dtype, n_rows):
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows, units = as_rows(X), table_for(3, 4).prepare(np.arange(3, dtype=np.int32))
    monkeypatch.setattr(fourier, "_CHUNK_BYTES", n_rows * 8 * np.dtype(dtype).itemsize + 1)
    assert rows_a_chunk(4, dtype) == n_rows
    order = np.random.default_rng(1).permutation(20)
    chunks = [
        (chunk, Z.copy())  # the next chunk may use the memory again
        for chunk, Z in feature_chunks(rows, units, 1.0, order=order, dtype=dtype)
    ]
    np.testing.assert_array_equal(np.concatenate([chunk for chunk, _ in chunks]), order)
    assert all(len(Z) == len(chunk) <= n_rows and Z.dtype == dtype for chunk, Z in chunks)
    np.testing.assert_array_equal(
        np.concatenate([Z for _, Z in chunks]),
        fourier_features(rows, units, 1.0, order=order, dtype=dtype),
    )


def test_a_chunk_has_at_least_one_row():
    assert rows_a_chunk(10**9, np.float64) == 1


# -- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n_rows", [0, 1, 2, 5, 100])
@pytest.mark.parametrize("rows_a_block", [0, 1, 3, 1000])
def test_over_rows_visits_each_row_once(monkeypatch, n_threads, n_rows, rows_a_block):
    monkeypatch.setattr(threads, "n_threads", lambda: n_threads)
    visits, sizes, used = np.zeros(n_rows, dtype=int), [], set()

    def loop(start, stop):
        visits[start:stop] += 1
        sizes.append(stop - start)
        used.add(threading.get_ident())

    threads.over_rows(loop, n_rows, rows_a_block)
    assert (visits == 1).all()
    assert len(sizes) == 1 or min(sizes) >= max(1, rows_a_block)
    assert len(used) <= n_threads
    if n_threads == 1:
        assert used == {threading.get_ident()}


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    this, begun = threading.get_ident(), threading.Event()

    def loop(start, stop):
        if threading.get_ident() == this:
            begun.wait(10)  # until the other thread has a part as well
        else:
            begun.set()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.over_rows(loop, 10, 1)


def test_n_threads_follows_the_limit_of_numba(monkeypatch):
    monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", 1)
    assert threads.n_threads() == 1
    monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", 10**6)
    assert 1 <= threads.n_threads() < 10**6


@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_results_do_not_depend_on_threads(monkeypatch, n_threads):
    X = sparse.random_array((50, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    theta = np.random.default_rng(1).normal(size=(2, 34))

    def results():
        table = table_for(30, 17)
        rows = as_rows(X)
        units = table.prepare(rows.indices)
        predictions = linear_predictions(rows, units, 1.0, theta=theta)
        return table.frequencies(1.0), fourier_features(rows, units, 1.0), predictions

    monkeypatch.setattr(threads, "n_threads", lambda: 1)
    alone = results()
    monkeypatch.setattr(threads, "n_threads", lambda: n_threads)
    # However little work there is.
    for module in (fourier, frequencies):
        monkeypatch.setattr(module, "over_rows", lambda loop, n, _: threads.over_rows(loop, n, 1))
    for one, many in zip(alone, results(), strict=True):
        np.testing.assert_array_equal(many, one)


# -- names of referencing nodes ----------------------------------------------------------------

# Names of every kind; equal names are in one group.
GROUPS = [
    [0, 0.0, -0.0, False, np.int8(0), np.float32(0), np.bool_(False)],
    [1, 1.0, True, np.uint64(1)],
    [-1, -1.0, np.int64(-1)],
    [2**63 - 1],
    [2**63, float(2**63), np.uint64(2**63)],
    [-(2**63), -float(2**63)],
    [2**64 - 1],
    [2**64, 2.0**64],
    [10**30],
    ["1", np.str_("1")],
    ["1.0"],
    [b"1", np.bytes_(b"1")],
    [""],
    [b""],
    [()],
    ["a"],
    [("a",), (np.str_("a"),)],
    [(("a",),)],
    [("a", 1), ("a", 1.0), ("a", True), ("a", np.int32(1))],
    [("a", "1")],
    [("a1",)],
    [("a", "b")],
    [("ab",)],
    [(("a",), "b")],
    [0.5, np.float64(0.5), np.float16(0.5)],
    [0.1],
    [float(np.float32(0.1)), np.float32(0.1)],
    [math.inf, np.float64(np.inf)],
    [-math.inf],
    ["Zürich"],
    ["Zu\u0308rich"],
    ["\ud83d\ude00"],
    ["\U0001f600"],
]


def test_equal_names_are_one_node_and_different_names_are_not():
    identities = [{reference_identity(name) for name in group} for group in GROUPS]
    assert all(len(group) == 1 for group in identities)
    assert len(set.union(*identities)) == len(GROUPS)
    assert all(0 <= identity < 2**64 for identity in set.union(*identities))


DAVOS = 0x7D4620CEFF5C7C63
DAVOS_7260 = 0x1547943E3D84BF49
DAVOS_BYTES = 0x59219F939079FEC9
TENTH = 0x45AA4D1E96CFAA7A
LARGE = 0x5D3FC30B12AD6B5D


def test_identities_are_the_same_on_every_machine_and_day():
    # Model files rely on these.
    assert reference_identity(7) == 7
    assert reference_identity(-1) == 2**64 - 1
    assert reference_identity("Davos") == DAVOS
    assert reference_identity(("Davos", 7260)) == DAVOS_7260
    assert reference_identity(b"Davos") == DAVOS_BYTES
    assert reference_identity(0.1) == TENTH
    assert reference_identity(10**30) == LARGE


BAD_NAMES = [None, math.nan, np.float64("nan"), 1j, np.complex64(1), frozenset(), (1, None), object]


@pytest.mark.parametrize("name", [*BAD_NAMES, np.datetime64("2020-01-01", "ns")])
def test_bad_names(name):
    with pytest.raises(TypeError, match="a reference name must be an int, str, bytes, float"):
        reference_identity(name)
    with pytest.raises(TypeError, match="a reference name must be"):
        table_for(3, 2).add([name])


def test_identities_at_array_speed_are_the_same():
    for names in (
        np.array([-5, 0, 3], dtype=np.int16),
        np.array([0, 2**32 - 1], dtype=np.uint32),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        range(3, 30, 7),
        ["a", 3, 0.5],
        [],
    ):
        expected = [reference_identity(name) for name in names]
        assert reference_identities(names).tolist() == expected
        assert reference_identities(names).dtype == np.uint64


@given(
    st.lists(
        st.recursive(
            # Few letters and small numbers, so that names meet and nearly meet.
            st.one_of(
                st.integers(-2, 2),
                st.text("ab", max_size=3),
                st.binary(max_size=1),
                st.floats(-2, 2),
            ),
            lambda names: st.lists(names, max_size=3).map(tuple),
            max_leaves=5,
        ),
        max_size=10,
    )
)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_identities_differ_where_names_do(names):
    identities = [reference_identity(name) for name in names]
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            assert (identities[i] == identities[j]) == (name == other)


@pytest.mark.parametrize(
    "references",
    [["a", "b"], ("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], dtype=object)],
)
def test_references_may_be_any_sequence(references):
    assert check_references(references, 2) == ["a", "b"]


@pytest.mark.parametrize(
    "references", ["ab", b"ab", {"a", "b"}, frozenset("ab"), {"a": 0, "b": 1}, iter("ab"), 2, None]
)
def test_references_must_be_a_sequence(references):
    # A set has no order: names would go to columns by chance, and differently in each process.
    with pytest.raises(TypeError, match="references must be a sequence"):
        check_references(references, 2)


@pytest.mark.parametrize("references", [[], ["a"], ["a", "b", "c"]])
def test_references_must_name_each_column(references):
    with pytest.raises(ValueError, match=f"got {len(references)} names for 2 columns"):
        check_references(references, 2)


@pytest.mark.parametrize("references", [["a", "a"], [1, 1.0], [1, True], [np.int64(3), 3]])
def test_references_must_differ(references):
    with pytest.raises(ValueError, match="references must not repeat a name"):
        check_references(references, 2)


def test_references_must_be_hashable():
    with pytest.raises(TypeError, match="references must be hashable"):
        check_references(["a", ["b"]], 2)


# -- the table of frequencies ------------------------------------------------------------------


def test_a_row_depends_on_seed_kernel_and_name_only():
    whole = FrequencyTable(5, 40, "gaussian", n_numbered=3, named=["a", "b", ("c", 1), 7])
    rows = whole.frequencies(1.0)
    for row, name in zip(rows, [0, 1, 2, "a", "b", ("c", 1), 7], strict=True):
        alone = FrequencyTable(5, 40, "gaussian", named=[name]).frequencies(1.0)
        np.testing.assert_array_equal(alone[0], row)
        assert not np.array_equal(
            FrequencyTable(6, 40, "gaussian", named=[name]).frequencies(1.0), alone
        )
        assert not np.array_equal(
            FrequencyTable(5, 40, "cauchy", named=[name]).frequencies(1.0), alone
        )


def test_the_order_in_which_nodes_come_does_not_matter():
    grown = FrequencyTable(5, 40, "cauchy")
    for name in ["d", "a", "c", "b"]:
        grown.add([name])
        grown.prepare_names([name])
    at_once = FrequencyTable(5, 40, "cauchy", named=["a", "b", "c", "d"])
    np.testing.assert_array_equal(
        grown.frequencies(1.0)[grown.rows_of(["a", "b", "c", "d"])], at_once.frequencies(1.0)
    )
    assert grown.names == ["d", "a", "c", "b"]


def test_growing_moves_no_row_that_is_drawn():
    table = FrequencyTable(1, 8, "gaussian", n_numbered=2)
    before = table.frequencies(1.0)
    for k in range(100):
        table.add([f"node {k}"])
        np.testing.assert_array_equal(table.frequencies(1.0)[:2], before)
    assert len(table) == 102
    assert np.isfinite(table.frequencies(1.0)).all()


def test_growing_leaves_undrawn_rows_to_be_drawn():
    table = FrequencyTable(1, 8, "gaussian", n_numbered=3)
    table.prepare(np.array([1], dtype=np.int32))
    table.add(["a", "b", "c", "d"])  # more than there is room for
    expected = FrequencyTable(1, 8, "gaussian", named=[0, 1, 2, "a", "b", "c", "d"])
    np.testing.assert_array_equal(table.frequencies(1.0), expected.frequencies(1.0))


def test_find_knows_equal_names():
    table = FrequencyTable(1, 2, "gaussian", n_numbered=3, named=["x", 5, 0.5])
    for name in (2, 2.0, np.int8(2), np.uint64(2), np.float32(2)):
        assert table.find(name) == 2
    assert [table.find(name) for name in (5, 5.0, np.int64(5))] == [4, 4, 4]
    assert table.find(np.str_("x")) == 3
    assert table.find(True) == 1
    for name in (3, -1, 2.5, "2", math.inf, -math.inf, math.nan, 10**30, None, np.complex64(2), ()):
        assert table.find(name) is None
    assert table.has_all([0, "x"])
    assert not table.has_all([0, "y"])


def test_add_missing_adds_once():
    table = FrequencyTable(1, 2, "gaussian", n_numbered=2, named=["a"])
    table.add_missing(["b", "a", 1, 1.0, "b", 2, 2.0])
    assert table.names == [0, 1, "a", "b", 2]


def test_a_bad_name_adds_none():
    table = FrequencyTable(1, 2, "gaussian", named=["a"])
    with pytest.raises(TypeError):
        table.add_missing(["b", None])
    assert table.names == ["a"]
    assert len(table) == 1


def test_dropping_nodes_forgets_them_and_no_others():
    table = FrequencyTable(1, 3, "gaussian", n_numbered=2, named=["a", "b", "c"])
    before = table.frequencies(1.0)
    table.prepare_names(["b", "c", "a"])
    table.drop_from(3)
    assert table.names == [0, 1, "a"]
    assert table.find("b") is None
    assert table.drawn_rows == {"a": 2}
    np.testing.assert_array_equal(table.frequencies(1.0), before[:3])
    # The places are used again by others, whose rows must be drawn.
    table.add(["z"])
    expected = FrequencyTable(1, 3, "gaussian", named=["z"]).frequencies(1.0)
    np.testing.assert_array_equal(table.frequencies(1.0)[3:], expected)


def test_frequencies_are_units_over_sigma():
    table = FrequencyTable(1, 5, "laplacian", n_numbered=4)
    np.testing.assert_array_equal(table.frequencies(0.25), table.frequencies(1.0) / 4)
    assert table.frequencies(1.0).dtype == np.float64


def test_only_the_rows_in_use_are_drawn(monkeypatch):
    drawn = []
    draw_rows = frequencies.draw_rows
    monkeypatch.setattr(
        frequencies,
        "draw_rows",
        lambda s, i, rows, d, t: (drawn.append(rows.tolist()), draw_rows(s, i, rows, d, t)),
    )
    table = FrequencyTable(0, 4, "gaussian", n_numbered=10)
    table.prepare(np.array([7, 2, 7], dtype=np.int32))
    table.prepare(np.array([2, 3], dtype=np.int32))
    table.prepare(np.array([3], dtype=np.int32))
    assert [rows for rows in drawn if rows] == [[2, 7], [3]]


@pytest.mark.parametrize("column", [-1, 5, 6, 2**31 - 1])
def test_columns_outside_the_table_are_refused(column):
    # The compiled loops do not check bounds, so this is what protects the memory.
    table = FrequencyTable(0, 4, "gaussian", n_numbered=4, named=["a"])
    table.add(["b"])
    table.drop_from(5)
    with pytest.raises(IndexError, match="outside the 5 referencing nodes"):
        table.prepare(np.array([0, column], dtype=np.int32))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_has_the_seed_and_the_names_not_the_numbers(duplicate):
    table = FrequencyTable(2**64 - 1, 300, "cauchy", n_numbered=1000, named=["a", ("b", 1.5)])
    before = table.frequencies(1.0)
    again = duplicate(table)
    assert list(again.names) == list(table.names)
    np.testing.assert_array_equal(again.frequencies(1.0), before)
    assert len(pickle.dumps(table)) < 1000
    again.add(["new"])
    assert len(table) == 1002


def test_of_names_leaves_the_table_alone():
    table = FrequencyTable(4, 6, "gaussian", n_numbered=2)
    other = table.of_names([1, "new"])
    np.testing.assert_array_equal(other.frequencies(1.0)[0], table.frequencies(1.0)[1])
    assert len(table) == 2
