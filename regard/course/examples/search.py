import torch

from regard.nn.plain import attention

ages = {"Ada": 36.0, "Grace": 85.0, "Alan": 41.0}
keys = torch.eye(3)  # a different direction for each name
values = torch.tensor(list(ages.values()))[:, None]

for sharpness in (1.0, 5.0, 100.0):
    query = sharpness * 3**0.5 * keys[:1]  # who is like Ada? attention divides by sqrt(3) again
    answer, weights = attention(query, keys, values)
    print(answer.item(), weights.tolist())
# 47.4: a mean of all three; 36.4: nearly Ada alone; 36.0, as ages["Ada"] says
