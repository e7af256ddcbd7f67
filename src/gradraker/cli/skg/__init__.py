"""Commands of the paper's learner: bank, series, ranges of σ², sweeps and the reproduction."""
