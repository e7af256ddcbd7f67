"""Commands of models of nodes: predict, update, explain, serve, studio; data sets and the demo."""
