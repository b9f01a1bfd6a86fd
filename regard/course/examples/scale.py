import math

import torch

torch.manual_seed(0)
for d_k in (4, 64, 1024):
    q, k = torch.randn(1000, d_k), torch.randn(1000, d_k)
    scores = (q * k).sum(dim=1)
    print(d_k, round(scores.std().item(), 1), round((scores / math.sqrt(d_k)).std().item(), 1))
# 4 1.9 1.0
# 64 8.1 1.0
# 1024 31.5 1.0
