import torch

from regard.models.encoder import Encoder, Source
from regard.shapes import EncoderSettings

torch.manual_seed(0)
man_bites_dog = torch.tensor([[1, 2, 3]])
dog_bites_man = torch.tensor([[3, 2, 1]])

for positions in ("none", "sinusoidal"):
    encoder = Encoder.of(EncoderSettings(width=16, positions=positions), vocabulary=5)
    one, other = (encoder(Source(ids)).mean(dim=1) for ids in (man_bites_dog, dog_bites_man))
    print(positions, torch.allclose(one, other, atol=1e-6))  # none True, sinusoidal False
