import torch

from regard.models.simple_transformer import SimpleTransformer
from regard.models.weights import count_parameters
from regard.zoo.parts import table_of
from regard.zoo.presets import network_of_preset

for part, layers, parameters, share in table_of(network_of_preset("gpt2", device="meta")):
    print(f"{part:25} {layers:15} {parameters:>12} {share:>6}")
# ... all 124,439,808

network = SimpleTransformer(vocabulary=50, width=16, feed=8)
words = torch.randint(50, (1, 100))
print(tuple(network(words).shape))  # (1, 100, 50): a score for each of 50 words at 100 places
print(count_parameters(network))  # 3018
