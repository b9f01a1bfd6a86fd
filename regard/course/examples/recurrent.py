import torch

lstm = torch.nn.LSTM(10, 20, 2)  # 10 numbers in, 20 in the state, 2 layers
texts = torch.randn(5, 3, 10)  # 5 steps, 3 texts

output, (hidden, cell) = lstm(texts)
print(tuple(output.shape))  # (5, 3, 20): the upper layer at every step
print(tuple(hidden.shape), tuple(cell.shape))  # (2, 3, 20) both: all layers at the end
print(torch.equal(output[-1], hidden[-1]))  # True

hidden, cell = torch.nn.LSTMCell(10, 20)(texts[0])
print(tuple(hidden.shape), tuple(cell.shape))  # (3, 20) both: one step of one layer
