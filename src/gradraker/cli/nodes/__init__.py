"""Commands of node models: predict, update, explain, serve, studio; data sets and the demo."""
