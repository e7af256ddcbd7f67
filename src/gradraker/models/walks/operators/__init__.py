"""Walk kernels as operators that are never formed, for graphs of any size."""
