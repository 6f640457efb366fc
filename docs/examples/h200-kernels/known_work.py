"""Products of known shape, an operator that runs 12 times, and nothing else: what ncu counts can be counted by hand."""
import sys
import torch

def once(f, n=1):
    for _ in range(n):
        f()
    torch.cuda.synchronize()

torch.manual_seed(0)
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
dev = "cuda:0"
for given in sys.argv[1:]:  # bf16:MxNxK or fp32:MxNxK
    name, shape = given.split(":")
    m, n, k = map(int, shape.split("x"))
    dtype = {"bf16": torch.bfloat16, "fp32": torch.float32}[name]
    a = torch.randn(m, k, device=dev, dtype=dtype)
    b = torch.randn(n, k, device=dev, dtype=dtype)
    torch.cuda.nvtx.range_push(f"{name} {m}x{n}x{k}")
    if m == 1:
        v = a[0].contiguous()
        once(lambda: torch.mv(b, v), 3)
    else:
        once(lambda: a @ b.t(), 3)
    torch.cuda.nvtx.range_pop()
x = torch.rand(1 << 20, device=dev)
once(lambda: torch.special.bessel_j0(x), 12)
