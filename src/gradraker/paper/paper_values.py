"""Every number that the paper prints on its data and simulations, with its place.

Numbers are texts, as printed: their last digit says how exact they are.
"""

from dataclasses import dataclass, field

from gradraker.paper.inputs import LARGEST_DISTANCE, SIGMA2_ED, SMALLEST_DISTANCE


@dataclass(frozen=True)
class Printed:
    """One number or statement of the paper.

    Attributes
    ----------
    key : str
        Name of the check that goes with it.
    place : str
        Section.
    quantity : str
        What it is.
    printed : str
        What is printed.
    needs : tuple of str
        Simulations and, with ``data:`` before them, data sets that it takes to check it.
    """

    key: str
    place: str
    quantity: str
    printed: str
    needs: tuple[str, ...] = field(default=())


PRINTED = (
    Printed(
        "sum-of-weights",
        "III.B.1",
        "Σ F ≈ 1: mean sum of contribution weights of tested nodes at σ² = 10",
        "≈ 1",
        ("weights",),
    ),
    Printed(
        "claim-4",
        "III.B.1",
        "Mean Σ F of tested nodes at σ² = 0.1, 2, 10, 300, against Claim 4",
        "1 − (1 − b)^T",
        ("weights",),
    ),
    # The example is arithmetic on numbers that are printed too.
    Printed("conformity-example", "III.B.2", "α₃ of the example, by equation (alpha3)", "0.079"),
    Printed(
        "alpha-bound",
        "III.B.2",
        "α₂ ≤ 2η for all nodes: largest α₂/2η on the weighted graph",
        "≤ 1",
        ("triples-temperature-weighted",),
    ),
    Printed(
        "alpha-bound-unweighted",
        "III.B.2",
        "α₂ ≤ 2η for all nodes: largest α₂/2η on the unweighted graph",
        "≤ 1",
        ("triples-temperature",),
    ),
    Printed(
        "efficient-distance",
        "IV.A.2",
        "Efficient distance at σ² = 0.1, 2, 10",
        "grows",
        ("weights",),
    ),
    Printed(
        "averaging-alpha",
        "IV.A.4",
        "σ² = 300: α/2η",
        "close to 1",
        ("weights",),
    ),
    Printed(
        "four-levels",
        "IV.B",
        "GNMSE over the four ranges, Temperature-Jan",
        "bad, gets better, might get worse, bad",
        ("sweep-temperature",),
    ),
    Printed(
        "variance-of-B",
        "IV.B",
        "Var[B|d] by its equation falls as ‖d‖² grows",
        "decreasing",
    ),
    Printed("stations-1961", "V.B.1", "Stations 1961–1990", "93", ("data:temperature",)),
    Printed("stations-1981", "V.B.1", "Stations 1981–2010", "91", ("data:temperature",)),
    Printed("stations", "V.B.1", "Stations in both periods", "83", ("data:temperature",)),
    Printed("papers", "V.B.2", "Papers of Cora", "2708", ("data:cora",)),
    Printed("topics", "V.B.2", "Topics of Cora", "7", ("data:cora",)),
    Printed("papers-citing-none", "V.B.2", "Papers that cite none", "486", ("data:cora",)),
    Printed("papers-left", "V.B.2", "Papers of Cora-Con", "2222", ("data:cora",)),
    Printed("members", "V.B.3", "Members of Email-EU-Core", "1005", ("data:email",)),
    Printed("departments", "V.B.3", "Departments of Email-EU-Core", "42", ("data:email",)),
    Printed("pages", "V.B.4", "Pages of Wikipedia-Math", "1068", ("data:wikipedia",)),
    Printed("days", "V.B.4", "Days of visits of Wikipedia-Math", "731", ("data:wikipedia",)),
    Printed("sampled-temperature", "V.C", "Sampled stations, 40 %", "33", ("data:temperature",)),
    Printed("pairs-at-15", "V.C", "Pairs of sampled nodes with ‖d‖² = 15", "21", ("similarity",)),
    Printed("B-smallest", "V.C", "Smallest B of these pairs", "0.085", ("similarity",)),
    Printed("B-largest", "V.C", "Largest B of these pairs", "0.105", ("similarity",)),
    Printed("B-mean", "V.C", "Mean of these B", "0.0976", ("similarity",)),
    Printed("B-variance", "V.C", "Variance of these B", "5.80e-5", ("similarity",)),
    Printed("B-approximation", "V.C", "B by the exponential approximation at ‖d‖² = 15", "0.094"),
    Printed("B-upper-end", "V.C", "Upper end 2η of what B can be", "0.2"),
    Printed(
        "d2min-temperature",
        "V.D",
        "Smallest nonzero ‖d‖², Temperature-Jan",
        SMALLEST_DISTANCE["temperature"],
        ("sweep-temperature",),
    ),
    Printed(
        "d2max-temperature",
        "V.D, V.E",
        "Largest ‖d‖², Temperature-Jan",
        LARGEST_DISTANCE["temperature"],
        ("sweep-temperature",),
    ),
    Printed("sigma2-ce", "V.D", "σ²_ce, Temperature-Jan", "0.22", ("sweep-temperature",)),
    Printed("sigma2-ed-5.87", "V.D", "σ²_ed, Temperature-Jan", "5.87", ("sweep-temperature",)),
    Printed("sigma2-da", "V.D", "σ²_da, Temperature-Jan", "135", ("sweep-temperature",)),
    Printed(
        "four-ranges",
        "V.D",
        "Ranges of σ² = 0.1, 2, 10, 300",
        "chaos, extending, disturbing, averaging",
        ("weights",),
    ),
    Printed(
        "chaos-B",
        "V.D",
        "σ² = 0.1: largest |B|/2η of nodes with other edges",
        "around 0",
        ("weights",),
    ),
    Printed(
        "chaos-F",
        "V.D",
        "σ² = 0.1: largest |F|/2η of nodes with other edges",
        "around 0",
        ("weights",),
    ),
    Printed(
        "extending-B",
        "V.D",
        "σ² = 2: balance of positive and negative B, Σ B / Σ |B|",
        "unbalanced",
        ("weights",),
    ),
    Printed(
        "extending-F",
        "V.D",
        "σ² = 2: weights F that are greatly larger than 0, above the noise range",
        "some",
        ("weights",),
    ),
    Printed(
        "disturbing-B",
        "V.D",
        "σ² = 10: smallest B",
        "greater than 0",
        ("weights",),
    ),
    Printed(
        "late-F",
        "V.D",
        "σ² = 10: F of late nodes whose B is close to the smallest",
        "relatively large",
        ("weights",),
    ),
    Printed(
        "averaging-B",
        "V.D",
        "σ² = 300: smallest B, in units of 2η",
        "close to 1",
        ("weights",),
    ),
    Printed(
        "averaging-F",
        "V.D",
        "σ² = 300: correlation of F with 2η(1 − 2η)^(T−i)",
        "roughly exponential",
        ("weights",),
    ),
    Printed(
        "largest-error",
        "V.D",
        "Of the four σ², the one with the greatest error",
        "0.1",
        ("weights",),
    ),
    Printed(
        "flat-predictions",
        "V.D",
        "σ² = 300: standard deviation of predictions by that of the true values",
        "almost the same",
        ("weights",),
    ),
    Printed(
        "sigma2-ed-temperature",
        "V.E",
        "σ²_ed, Temperature-Jan",
        SIGMA2_ED["temperature"],
        ("sweep-temperature",),
    ),
    Printed(
        "d2max-temperature-weighted",
        "V.E",
        "Largest ‖d‖², Temperature-Jan weighted",
        LARGEST_DISTANCE["temperature-weighted"],
        ("sweep-temperature-weighted",),
    ),
    Printed(
        "sigma2-ed-temperature-weighted",
        "V.E",
        "σ²_ed, Temperature-Jan weighted",
        SIGMA2_ED["temperature-weighted"],
        ("sweep-temperature-weighted",),
    ),
    Printed(
        "d2max-cora", "V.E", "Largest ‖d‖², Cora-Con", LARGEST_DISTANCE["cora"], ("sweep-cora",)
    ),
    Printed(
        "smooth-cora",
        "V.E",
        "Ups and downs of the curve of Cora-Con, beside that of Temperature-Jan",
        "not as smooth",
        ("sweep-cora", "sweep-temperature"),
    ),
    Printed("sigma2-ed-cora", "V.E", "σ²_ed, Cora-Con", SIGMA2_ED["cora"], ("sweep-cora",)),
    Printed("sampled-cora", "V.E", "Sampled nodes M, Cora-Con", "888", ("data:cora",)),
    Printed(
        "d2max-email",
        "V.E",
        "Largest ‖d‖², Email-EU-Core",
        LARGEST_DISTANCE["email"],
        ("sweep-email",),
    ),
    Printed("sigma2-ed-email", "V.E", "σ²_ed, Email-EU-Core", SIGMA2_ED["email"], ("sweep-email",)),
    Printed("sampled-email", "V.E", "Sampled nodes M, Email-EU-Core", "403", ("data:email",)),
    Printed(
        "d2max-wikipedia",
        "V.E",
        "Largest ‖d‖², Wikipedia-Math-Daily",
        LARGEST_DISTANCE["wikipedia"],
        ("distances-wikipedia",),
    ),
    Printed(
        "sigma2-ed-wikipedia",
        "V.E",
        "σ²_ed, Wikipedia-Math-Daily",
        SIGMA2_ED["wikipedia"],
        ("distances-wikipedia",),
    ),
    Printed(
        "best-temperature",
        "VI.B.1",
        "GNMSE at σ²_ed divided by the smallest of the mean curve, Temperature-Jan",
        "the best",
        ("sweep-temperature",),
    ),
    Printed(
        "best-temperature-weighted",
        "VI.B.1",
        "GNMSE at σ²_ed divided by the smallest of the mean curve, Temperature-Jan weighted",
        "the best",
        ("sweep-temperature-weighted",),
    ),
    Printed(
        "best-cora",
        "VI.B.1",
        "Best σ² of the mean curve divided by σ²_ed, Cora-Con",
        "slightly larger",
        ("sweep-cora",),
    ),
    Printed(
        "best-email",
        "VI.B.1",
        "Best σ² of the mean curve divided by σ²_ed, Email-EU-Core",
        "slightly larger",
        ("sweep-email",),
    ),
    Printed(
        "best-wikipedia",
        "VI.B.1",
        "Best σ² of the mean curve divided by σ²_ed, Wikipedia-Math-Daily",
        "slightly larger",
        ("sweep-wikipedia",),
    ),
    Printed(
        "differences-at-5",
        "VI.B.1",
        "Largest |y_i − y_j| of pairs with ‖d‖² = 5, Temperature-Jan",
        "0.35",
        ("pairs-temperature",),
    ),
    Printed(
        "differences-at-15",
        "VI.B.1",
        "Part of the pairs with ‖d‖² = 15 that differ by more than 0.3",
        "likely",
        ("pairs-temperature",),
    ),
    Printed(
        "largest-difference-at-15",
        "VI.B.1",
        "Largest |y_i − y_j| of pairs with ‖d‖² = 15, Temperature-Jan",
        "1",
        ("pairs-temperature",),
    ),
    Printed(
        "differences-at-0",
        "VI.B.1",
        "Part of the pairs with ‖d‖² = 0 that differ by more than 0.5, Cora-Con",
        "nonnegligible",
        ("pairs-cora",),
    ),
    Printed(
        "few-D",
        "VI.B.2",
        "Smallest mean GNMSE at D = 10 divided by that at D = 1000",
        "larger",
        ("frequencies",),
    ),
    Printed(
        "best-without-D",
        "VI.B.2",
        "Best σ² for large D does not depend on D (largest ratio of best σ², D ≥ 100)",
        "the same",
        ("frequencies",),
    ),
    Printed(
        "best-with-eta",
        "VI.B.2",
        "Best σ² divided by σ²_ed at the smallest η, E = 3",
        "much larger",
        ("learning-rate",),
    ),
    Printed(
        "best-with-E",
        "VI.B.2",
        "Best σ² divided by σ²_ed at the fewest epochs, η small",
        "much larger",
        ("epochs",),
    ),
    Printed(
        "gnmse-temperature",
        "VI.C",
        "Smallest mean GNMSE, Temperature-Jan: “could be lower than”",
        "0.05",
        ("sweep-temperature",),
    ),
    Printed(
        "gnmse-cora",
        "VI.C",
        "Smallest mean GNMSE, Cora-Con: “values are above”",
        "0.35",
        ("sweep-cora",),
    ),
    Printed(
        "levels-differ",
        "VI.C",
        "Largest of the smallest mean GNMSE of the three data sets divided by the smallest",
        "vary considerably",
        ("sweep-temperature", "sweep-cora", "sweep-email"),
    ),
)
