import torch

from regard.nn.mask import Mask

allowed = Mask(causal=True).draw(4, 4)[0, 0]
added = torch.zeros(4, 4).masked_fill(~allowed, -torch.inf)
print(added.tolist())  # [[0.0, -inf, -inf, -inf], [0.0, 0.0, -inf, -inf], ...

scores = torch.tensor([1.0, 0.0, 2.0, 1.0])  # of the first word, which may see itself only
print((scores + added[0]).softmax(dim=0).tolist())  # [1.0, 0.0, 0.0, 0.0]
leaking = (scores * allowed[0]).softmax(dim=0)  # 0 in place of minus infinity
print(round(leaking[1:].sum().item(), 2))  # 0.52 goes to the future
