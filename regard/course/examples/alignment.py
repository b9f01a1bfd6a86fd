import torch

from regard.nn.align import Align

torch.manual_seed(0)
read = torch.randn(1, 7, 16)  # seven words were read
state = torch.randn(1, 1, 16)  # the writer, about to write one

for score in ("dot", "general", "additive", "concat"):
    seen, weights = Align(score, 16, 16)(state, read)
    print(score, seen.shape, weights.sum().item())  # one vector; weights sum to 1

_, weights = Align("dot", 16, 16, scope="local-m", reach=1)(state, read, start=3)
print(weights[0, 0].nonzero().flatten().tolist())  # [2, 3, 4]: around place 3, from 0
