import time

import torch

from regard.nn.plain import attention

for words in (256, 512, 1024):
    x = torch.randn(words, 64)
    begun = time.perf_counter()
    mixed, weights = attention(x, x, x)
    print(words, weights.nbytes, round(time.perf_counter() - begun, 4))  # seconds differ
# 256 262144
# 512 1048576
# 1024 4194304
