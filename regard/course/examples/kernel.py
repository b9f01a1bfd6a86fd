import torch

from regard.nn.kernel import kernel_regression

people = torch.tensor([60_000.0, 70_000.0, 85_000.0])
profits = torch.tensor([175_000.0, 200_000.0, 210_000.0])

answer, weights = kernel_regression(torch.tensor([65_000.0]), people, profits)
print(answer.item())  # 187500.0
print(weights.tolist())  # [[0.5, 0.5, 0.0]]
