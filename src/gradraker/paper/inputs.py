"""What the paper puts into its equations and simulations, and the boundaries that it prints."""

# Section V.E, by data set; distances are texts, as printed.
N_FREQUENCIES = {
    "temperature": 200,
    "temperature-weighted": 200,
    "cora": 888,
    "email": 403,
    "wikipedia": 500,
}
LARGEST_DISTANCE = {
    "temperature": "27",
    "temperature-weighted": "12.49",
    "cora": "8",
    "email": "107",
    "wikipedia": "671",
}
SMALLEST_DISTANCE = {"temperature": "1"}
CLOSENESS = 0.1
SIGMA2_ED = {
    "temperature": "5.86",
    "temperature-weighted": "2.08",
    "cora": "1.05",
    "email": "15.29",
    "wikipedia": "95.67",
}

# Section V.C: B of pairs at one squared distance.
SIMILARITY = {
    "sigma2": 10.0,
    "squared_distance": 15.0,
    "n_frequencies": 200,
    "learning_rate": 0.1,
}
# Section III.B.2: the example of conformity factors.
CONFORMITY_EXAMPLE = {"alpha_2": 0.08, "alpha_31": 0.06, "alpha_32": 0.1}
# Figures 3 and 5: one variance from each range.
FOUR_SIGMA2 = (0.1, 2.0, 10.0, 300.0)
