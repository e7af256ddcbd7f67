"""Graphs whose links are drawn at random: communities and preferential attachment."""

import numpy as np
from numpy.typing import ArrayLike

from gradraker._validation import check_count, check_generator, check_number
from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.generators.assembly import Floats, Indices, RandomState, build_adjacency
from gradraker.exceptions import ArgumentError


def make_block_graph(
    n_nodes: int = 400,
    *,
    n_blocks: int = 4,
    p_in: float = 0.1,
    p_out: float = 0.01,
    noise: float = 0.05,
    weighted: bool = False,
    directed: bool = False,
    random_state: RandomState = None,
) -> GraphDataset:
    """Make a stochastic block graph, whose values are those of the blocks plus noise.

    Blocks are of equal size (up to one node) and their values are evenly spaced from -1 to 1.

    Parameters
    ----------
    n_nodes, noise, random_state
        As in :func:`make_threshold_graph`.
    n_blocks : int
        Number of blocks, at most ``n_nodes``.
    p_in, p_out : float
        Probability of a link between two nodes of the same block, and of different blocks.
        With ``p_in`` below ``p_out`` the graph is disassortative: values are *not* smooth
        along edges, yet nodes of one block still have similar adjacency vectors. With
        ``p_in=0`` and two blocks it is bipartite.
    weighted : bool
        If true, a link weighs 1 plus a Poisson count of mean 1, as numbers of messages do.
    directed : bool
        If true, the two directions of a pair are drawn independently.

    Returns
    -------
    GraphDataset
        Without self loops. ``positions`` has one column, the block, from 0.

    Examples
    --------
    >>> from gradraker.datasets import make_block_graph
    >>> data = make_block_graph(60, n_blocks=2, p_in=0.0, p_out=0.3, random_state=0)
    >>> block = data.positions[:, 0]
    >>> source, target = data.adjacency.nonzero()
    >>> bool((block[source] == block[target]).any())
    False
    """
    n_nodes = check_count("n_nodes", n_nodes)
    n_blocks = check_count("n_blocks", n_blocks)
    if n_blocks > n_nodes:
        raise ArgumentError("n_blocks", f"at most n_nodes={n_nodes}", n_blocks)
    p_in = check_number("p_in", p_in, low=0.0, high=1.0)
    p_out = check_number("p_out", p_out, low=0.0, high=1.0)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    block = rng.permutation(np.arange(n_nodes) % n_blocks)
    by_block = np.argsort(block, kind="stable")
    inner = by_block[_draw_pairs(np.bincount(block), p_in, rng, directed=directed)]
    anywhere = _draw_pairs([n_nodes], p_out, rng, directed=directed)
    outer = anywhere[:, block[anywhere[0]] != block[anywhere[1]]]
    source, target = np.concatenate([inner, outer], axis=1)
    weight = np.ones(len(source))
    if weighted:
        weight += rng.poisson(1.0, len(source))
    level = np.linspace(-1.0, 1.0, n_blocks)
    return GraphDataset(
        build_adjacency(n_nodes, source, target, weight, directed=directed),
        level[block] + noise * rng.standard_normal(n_nodes),
        name="Block",
        positions=block[:, np.newaxis],
        position_names=("block",),
        description=(
            f"Generated nodes in {n_blocks} blocks; an edge joins two nodes of the same block "
            f"with probability {p_in:g}, of different blocks with probability {p_out:g}; the "
            f"value is that of the block plus noise {noise:g}"
        ),
    )


def make_preferential_graph(
    n_nodes: int = 400,
    *,
    n_links: int = 4,
    degree_share: float = 0.5,
    noise: float = 0.1,
    weighted: bool = False,
    directed: bool = False,
    random_state: RandomState = None,
) -> GraphDataset:
    """Make a graph by preferential attachment, with few hubs and many small nodes.

    Nodes come one after the other. Each draws ``n_links`` earlier nodes, with probability
    in proportion to the links that these have. The value mixes two parts, each scaled to
    mean 0 and variance 1: the logarithm of the node's degree, and the mean over its
    neighbours (its row of the adjacency matrix) of a hidden normal number of each.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, at least 2.
    noise, random_state
        As in :func:`make_threshold_graph`.
    n_links : int
        Links that each node but the first draws. The same node drawn twice is one edge.
    degree_share : float
        Part of the variance that the degree explains, from 0 to 1; the neighbours explain
        the rest. With a small share, adjacent nodes have unlike values, since only nodes
        that share neighbours have similar ones.
    weighted : bool
        If true, an edge weighs the number of times that it was drawn; otherwise 1.
    directed : bool
        If true, edges lead from the newer node to the older one, as citations do.

    Returns
    -------
    GraphDataset
        Nodes are in the order of arrival, without self loops. ``positions`` has the column
        hidden: the number that contributes to the values of the node's neighbours.

    Examples
    --------
    >>> from gradraker.datasets import make_preferential_graph
    >>> data = make_preferential_graph(200, n_links=2, directed=True, random_state=0)
    >>> source, target = data.adjacency.nonzero()
    >>> bool((source > target).all())
    True
    """
    n_nodes = check_count("n_nodes", n_nodes, at_least=2)
    n_links = check_count("n_links", n_links)
    degree_share = check_number("degree_share", degree_share, low=0.0, high=1.0)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    source, target = _draw_preferential_links(n_nodes, n_links, rng)
    adjacency = build_adjacency(n_nodes, source, target, np.ones(len(source)), directed=directed)
    if not weighted:
        adjacency.sum_duplicates()
        adjacency.data[:] = 1.0
    hidden = rng.standard_normal(n_nodes)
    row_sum = adjacency.sum(axis=1)
    degree = row_sum + adjacency.sum(axis=0) if directed else row_sum
    from_neighbours = (adjacency @ hidden) / np.maximum(row_sum, 1.0)
    signal = np.sqrt(degree_share) * _standardise(np.log(degree))
    signal += np.sqrt(1.0 - degree_share) * _standardise(from_neighbours)
    return GraphDataset(
        adjacency,
        signal + noise * rng.standard_normal(n_nodes),
        name="Preferential",
        positions=hidden[:, np.newaxis],
        position_names=("hidden",),
        description=(
            f"Generated by preferential attachment with {n_links} links per node; the value mixes "
            f"the node's log degree (part {degree_share:g} of the variance) with the mean of a "
            f"hidden number of its neighbours, plus noise {noise:g}"
        ),
    )


def _draw_pairs(
    group_sizes: ArrayLike, p: float, rng: np.random.Generator, *, directed: bool
) -> Indices:
    """Draw each pair within each group independently with probability p, as 2 rows.

    Nodes are numbered group after group. Work is in proportion to the pairs drawn: their
    number is binomial, and given it, all sets of that many pairs are equally likely.
    """
    size = np.asarray(group_sizes, dtype=np.int64)
    n_pairs = size * (size - 1) if directed else size * (size - 1) // 2
    end = np.cumsum(n_pairs)
    total = int(end[-1])
    drawn = np.sort(rng.choice(total, rng.binomial(total, p), replace=False, shuffle=False))
    group = np.searchsorted(end, drawn, side="right")
    within = drawn - (end - n_pairs)[group]
    if directed:
        low, step = np.divmod(within, np.maximum(size[group] - 1, 1))
        high = step + (step >= low)  # skip the self loop
    else:
        # Pair number high (high - 1) / 2 + low, for low < high; the root may round up or down.
        high = np.floor((1.0 + np.sqrt(1.0 + 8.0 * within)) / 2.0).astype(np.int64)
        high -= high * (high - 1) // 2 > within
        high += high * (high + 1) // 2 <= within
        low = within - high * (high - 1) // 2
    first = (np.cumsum(size) - size)[group]
    pairs: Indices = np.stack([first + low, first + high])  # [2, pairs]
    return pairs


def _draw_preferential_links(
    n_nodes: int, n_links: int, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Links (newer, older), ``n_links`` for each node but the first, repetitions included.

    Write the two ends of every link in one long list: link e has its source at place 2e and
    its target at place 2e + 1. A uniform draw among the places of earlier nodes is then a
    draw in proportion to links (Batagelj and Brandes, 2005). A draw of an odd place means
    "the same target as that link", so chains of places are followed, for all links at once,
    each round doubling the step.
    """
    source = np.repeat(np.arange(1, n_nodes), n_links)  # [e]
    n_places = 2 * n_links * (source - 1)  # places of links of earlier nodes; 0 for node 1
    drawn = rng.integers(0, np.maximum(n_places, 1))
    points_to = np.arange(2 * len(source))  # an even place points to itself
    points_to[1::2] = drawn
    points_to[1 : 2 * n_links : 2] = np.arange(1, 2 * n_links, 2)  # node 1 can only draw node 0
    while True:
        further = points_to[points_to]
        if np.array_equal(further, points_to):
            break
        points_to = further
    place = points_to[1::2]
    # Chains end at a source, or at a link of node 1, whose target is node 0.
    return source, np.where(place % 2 == 0, source[place // 2], 0)


def _standardise(values: Floats) -> Floats:
    centred: Floats = values - values.mean()
    deviation = centred.std()
    return centred / deviation if deviation > 0 else centred
