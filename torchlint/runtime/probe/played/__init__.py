"""A CUDA device that is played on the CPU: tensors are in main memory and answer as if they were on
a GPU, and whatever the host would wait for, copy or launch there is counted.

Where a tensor lies is written on its storage (`marks`). Methods of tensors and functions of torch
that name a device are replaced for everyone (`tensors`, `factories`, `cuda` and their neighbours),
since a mode is seen neither by other threads nor inside torch's own Python functions. One dispatch
mode (`played_operations`) passes the mark on from arguments of an operation to its results, and
counts.
"""
