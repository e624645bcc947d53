"""The searches on NVIDIA GPUs; imported only when one is wanted.

`driver` looks for a driver and GPUs and needs no package; `source` and `compiler` turn native/cuda/*.cu into
machine code, for which no GPU is needed, and `cache` keeps it on disk; `device` is one GPU, upon `context`,
`memory` and `kernels`. `tuning` has the numbers that were measured, `records` the structs of the kernels.
"""
