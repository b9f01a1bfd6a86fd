import torch

from regard.nn.plain import attention

ages = {"Ada": 36.0, "Grace": 85.0, "Alan": 41.0}
keys = torch.eye(3)  # a different direction for each name
values = torch.tensor(list(ages.values()))[:, None]

for sharpness in (1.0, 5.0, 100.0):
    answer, weights = attention(sharpness * keys[:1], keys, values)  # who is like Ada?
    print(answer.item(), weights.tolist())
# 50.3: a mean of all three; 38.7: mostly Ada; 36.0, as ages["Ada"] says
