import torch

from regard.nn.plain import self_attention

torch.manual_seed(0)
dog, bites, man = torch.randn(3, 4).double()

one = self_attention(torch.stack([dog, bites, man]))
other = self_attention(torch.stack([man, bites, dog]))
print(torch.allclose(one, other))  # False: not invariant
print(torch.allclose(one[[2, 1, 0]], other, atol=1e-12))  # True: the rows moved with the words
print(torch.allclose(one.mean(dim=0), other.mean(dim=0), atol=1e-12))  # True: pooled, invariant
