import torch

torch.manual_seed(0)
x = torch.randn(1, 50, 16, requires_grad=True)
for layers in (torch.nn.RNN(16, 16, batch_first=True), torch.nn.LSTM(16, 16, batch_first=True)):
    last = layers(x)[0][:, -1].sum()  # the last output only
    (gradient,) = torch.autograd.grad(last, x)
    near, far = gradient[0, -2].norm(), gradient[0, -30].norm()
    print(type(layers).__name__, f"{float(far / near):.0e}")  # far below 1: the gradient vanished
