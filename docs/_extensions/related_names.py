"""Which public names belong together: "See also" of the reference, and pages about them.

A name may be in several groups. The first entry of a group is its page of the site, or None.
"""

GROUPS: tuple[tuple[str | None, str], ...] = (
    ("tutorials/first-prediction", "predict_nodes NodeRegressor NodeClassifier NodePredictions"),
    ("theory/node-models", "NodeRegressor NodeClassifier NodeModel SKGNodeRegressor"),
    ("theory/skg", "SKGRegressor SKGNodeRegressor adjacency_vectors gnmse"),
    ("theory/many-kernels", "GradrakerRegressor BankMember BankExplanation KernelWeightsDisplay"),
    (None, "predict_with_bank BankPredictions summarize_bank GradrakerRegressor layer_views"),
    ("theory/many-hops", "hop_views layer_views GraphViews adjacency_vectors"),
    (
        "theory/filtered-signals",
        "filtered_signals FilteredSignals predict_series SeriesPredictions summarize_series",
    ),
    (None, "make_traffic_series load_temperature_normals filtered_signals"),
    ("reference/graphs", "adjacency_vectors AdjacencyVectors known_values EdgeList"),
    ("reference/graphs", "read_edges read_values EdgeList GraphFileError Place UnclearTableError"),
    ("how-to/saving", "load read_notes ModelFileError ModelFileChangedError PartlyWrittenError"),
    ("theory/ranges", "sigma2_ranges Sigma2Ranges find_ranges plot_sigma2_ranges"),
    ("theory/algorithms", "sigma2_ranges compute_noise_ratio median_sigma2 noise_range"),
    (
        "theory/ranges",
        "extreme_squared_distances ExtremeDistances PairDistance find_largest_distance "
        "find_smallest_nonzero_distance",
    ),
    ("theory/skg", "KERNELS Kernel get_kernel kernel_similarity_measure"),
    ("how-to/sweeping", "sigma2_sweep SweepResult plot_sweep SweepError SweepFileError"),
    ("how-to/sweeping", "settings_sweep SettingsSweep plot_settings_sweep"),
    (None, "render_sweep summarize_sweep SweepResult"),
    (
        "theory/similarity",
        "similarity_measure kernel_similarity_measure compute_similarity_variance",
    ),
    (
        "theory/contribution-weights",
        "contribution_weights kernel_contribution_weights compute_expected_weight_sum Explanation",
    ),
    (
        "theory/conformity",
        "conformity_factor noise_range efficient_distance SplitPrediction ConformityDisplay "
        "NodeDistancesDisplay",
    ),
    (
        "theory/explaining",
        "Explanation LinearExplanation SplitPrediction ContributionWeightsDisplay "
        "ContributorsDisplay NeighbourhoodDisplay",
    ),
    ("theory/explaining", "similarity_transfer SimilarityTransfer SimilarityTransferDisplay"),
    (None, "find_contributors Contributors summarize_explanation LinearExplanation"),
    (
        "theory/leave-one-out",
        "LeftOut LeftOutError LeftOutClasses LeftOutAccuracy evaluate_left_out",
    ),
    (None, "check_node_model NodeModel"),
    ("how-to/million-nodes", "watch_progress NodeRegressor NodeClassifier"),
    (
        None,
        "predict_all predict_targets predict_all_targets predict_nodes summarize_targets "
        "NodePredictions PredictedValuesDisplay",
    ),
    ("tutorials/stream", "update_nodes update_file Update FileUpdate summarize_update load"),
    (
        "reference/datasets",
        "load_temperature load_temperature_normals load_dataset list_datasets describe_dataset "
        "DatasetInfo GraphDataset",
    ),
    (
        "reference/datasets",
        "fetch_cora_con fetch_email_eu_core fetch_wikipedia_math fetch_wikipedia_math_graph "
        "DatasetFileError DatasetUnavailableError",
    ),
    (
        "reference/datasets",
        "make_arriving_graph make_block_graph make_geometric_graph make_preferential_graph "
        "make_threshold_graph make_traffic_series split_nodes",
    ),
    (None, "gnmse LeftOutError"),
    (
        "tutorials/explain-and-show",
        "build_explorer render_predictions render_targets summarize_predictions NodePredictions",
    ),
    (None, "plot_distribution plot_errors plot_held_out plot_sigma2_ranges"),
    (None, "DrawnDisplay ContributorsDisplay ContributionWeightsDisplay KernelWeightsDisplay"),
    (
        None,
        "write_figure render_figure render_inline_svg to_inline_svg freeze_layout FORMATS",
    ),
    ("how-to/live", "connect Client Kept LiveRequestError JournalError"),
    (
        "how-to/reproducing",
        "reproduce_paper redraw_paper run_paper write_reproduction build_summary PaperResults "
        "read_results",
    ),
    (
        "how-to/reproducing",
        "compare_with_paper Finding count_verdicts RULES VERDICTS PARTS choose_parts "
        "UnknownFigureError",
    ),
    ("how-to/reproducing", "draw_figure make_table SIMULATIONS DATA PaperResults"),
    (None, "ArgumentError ArgumentTypeError UnknownNodesError TooFewValuesError NotHeldError"),
    (None, "NegativeWeightError adjacency_vectors ArgumentError"),
    (None, "DeviceMemoryError NoDeviceError NodeRegressor"),
    (None, "cross_validate_nodes NodeScores search_nodes NodeSearch LeftOutError"),
    (None, "DiskGraph open_disk_graph read_edges"),
    (None, "DaskNodeRegressor DaskNodeClassifier NoWorkerError NodeRegressor NodeClassifier"),
    ("how-to/attributes", "AttributeTable AttributeWarning learn_attributes NodeRegressor"),
)


def find_related(name: str) -> tuple[list[str], list[str]]:
    """Names related to a name, and pages about it, in the order of the groups."""
    names: dict[str, None] = {}
    pages: dict[str, None] = {}
    for page, group in GROUPS:
        members = group.split()
        if name in members:
            names |= dict.fromkeys(member for member in members if member != name)
            pages |= {page: None} if page else {}
    return list(names), list(pages)
