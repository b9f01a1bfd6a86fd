import torch

from regard.models.recurrent import RecurrentNetwork
from regard.shapes import RecurrentSettings

text = "the sea was calm and the sea was grey and "
letters = sorted(set(text))
ids = torch.tensor([[letters.index(letter) for letter in text]])
torch.manual_seed(0)
network = RecurrentNetwork(RecurrentSettings(cell="lstm", width=32), len(letters))
optimizer = torch.optim.Adam(network.parameters(), lr=0.03)
for _ in range(40):  # the true letters in, and at each the next one wanted
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(network(ids[:, :-1])[0], ids[0, 1:]).backward()
    optimizer.step()

state, letter = network.start(), ids[:, 0]
for _ in range(20):  # no teacher: what comes out goes in
    print(letters[letter], end="")
    scores, state = network.step(state, letter)
    letter = scores.argmax(dim=-1)  # prints: the sea was calm and
