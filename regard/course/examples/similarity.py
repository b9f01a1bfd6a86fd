import math

import torch

a = torch.tensor([1.0, 0.0])
for degrees in (140, 90, 45, 0):
    angle = math.radians(degrees)
    b = torch.tensor([math.cos(angle), math.sin(angle)])
    print(degrees, round(float(a @ b), 2))  # 140 -0.77, 90 0.0, 45 0.71, 0 1.0

long = 10 * b
print(float(a @ long))  # 10.0: the length counts
print(float(torch.cosine_similarity(a, long, dim=0)))  # 1.0: the angle alone
