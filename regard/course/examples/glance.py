import torch

from regard.nn.glance import Glance

torch.manual_seed(0)
regions = torch.randn(1, 9, 16)  # a picture of nine regions
query = torch.randn(1, 16)

soft = Glance(16, 16)
seen, weights, _ = soft(query, regions)
print(seen.shape, round(weights.sum().item(), 6))  # one vector, a mean of all nine; 1.0

hard = Glance(16, 16, hard=True)
seen, weights, log_choice = hard(query, regions)
print(bool((regions[0] == seen).all(dim=-1).any()))  # True: it is one of the nine
print(log_choice.requires_grad, seen.requires_grad)  # True False: the choice needs REINFORCE
