"""Ridge on kernels of operators, chosen and solved by products, for graphs of any size."""
