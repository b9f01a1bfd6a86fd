import torch

from regard.models.encoder import Encoder, Source
from regard.shapes import EncoderSettings

torch.manual_seed(0)
ids = {word: number for number, word in enumerate("the date is on a tree today".split(), start=4)}
one, other = ([ids[w] for w in text.split()] for text in ("the date is today", "a date on a tree"))
encoder = Encoder.of(EncoderSettings(width=32), vocabulary=20)

table = encoder.embed.table.weight
print(torch.equal(table[one[1]], table[other[1]]))  # True: one embedding
vectors = encoder(Source.of([one]))[0, 1], encoder(Source.of([other]))[0, 1]
print(torch.cosine_similarity(*vectors, dim=0).item())  # below 1: two contextual vectors
