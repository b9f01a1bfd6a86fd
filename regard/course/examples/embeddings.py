import torch

from regard.nn.embeddings import one_hot

torch.manual_seed(123)
table = torch.nn.Embedding(4, 5)  # 4 words, 5 numbers each
ids = torch.tensor([2, 3, 1])

looked_up = table(ids)
multiplied = one_hot(ids, 4) @ table.weight
print(looked_up[:, 0].tolist())  # 0.6957, -2.8400, 1.3010
print(torch.equal(looked_up, multiplied))  # True
