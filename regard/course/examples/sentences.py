import torch

from regard.nn.pooling import pool

words = torch.tensor([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]])  # one sentence, 3 places, width 2
lengths = torch.tensor([2])  # its third place is padding

for how in ("mean", "max", "first"):
    print(how, pool(words, how, lengths).tolist())  # [2, 1], [3, 2], [1, 0]
one, other = torch.tensor([2.0, 1.0]), torch.tensor([1.0, 2.0])
print(torch.cosine_similarity(one, other, dim=0).item())  # 0.8: how alike two sentences are
