import torch

from regard.nn.norms import SequenceBatchNorm

items = torch.tensor([[1.0, 2, 3, 6], [10, 20, 30, 60], [1, 5, 3, 3]])

layer = torch.nn.LayerNorm(4)(items)  # every row by itself
batch = SequenceBatchNorm(4)(items[None])[0]  # every column by itself
print(layer[0].tolist())  # -1.0690, -0.5345, 0.0, 1.6036
print(batch[:, 0].tolist())  # -0.7071, 1.4142, -0.7071
print(torch.allclose(layer[0], layer[1]))  # True: item 2 is ten times item 1
