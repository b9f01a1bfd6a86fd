import torch

from regard.models.encoder import Source
from regard.models.seq2seq import Seq2Seq
from regard.shapes import Seq2SeqSettings

torch.manual_seed(0)
network = Seq2Seq(Seq2SeqSettings(cell="lstm", width=32, attention="none"), None, vocabulary=30)

source = Source.of([[5, 9, 7, 12, 6]])  # five tokens are read
state = network.start(source)
print([tuple(one.shape) for one in state.hidden])  # [(1, 1, 32), (1, 1, 32)]: all that crosses over

target = torch.tensor([[1, 6, 12, 7]])  # START and the right target so far: teacher forcing
print(network(source, target).shape)  # (1, 4, 30): scores of what follows each of them
