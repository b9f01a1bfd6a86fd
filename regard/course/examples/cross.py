import torch

from regard.nn.plain import attention

torch.manual_seed(0)
for english, french in ((5, 7), (2, 9), (1, 1)):
    queries = torch.randn(english, 16)  # from what is being written
    keys = values = torch.randn(french, 16)  # from what was read
    mixed, weights = attention(queries, keys, values)
    print(tuple(weights.shape), tuple(mixed.shape))
# (5, 7) (5, 16)
# (2, 9) (2, 16)
# (1, 1) (1, 16)
