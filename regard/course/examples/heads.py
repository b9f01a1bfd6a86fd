import torch

from regard.nn.attention import join_heads, split_heads

torch.manual_seed(0)
words = torch.randn(1, 6, 512)  # one sentence, 6 words
project, out = torch.nn.Linear(512, 3 * 512), torch.nn.Linear(512, 512)

q, k, v = (split_heads(part, 64) for part in project(words).chunk(3, dim=-1))
weights = (q @ k.transpose(-2, -1) / 64**0.5).softmax(dim=-1)
print(tuple(q.shape))  # (1, 8, 6, 64): 8 heads of width 64
print(tuple(weights.shape))  # (1, 8, 6, 6): each head has weights of its own
print(tuple(out(join_heads(weights @ v)).shape))  # (1, 6, 512)
