import torch

from regard.nn.plain import attention, attention_loop

words = ["the", "bat", "flew", "over", "the", "river"]
x = torch.tensor(  # animal, tool, moving, place
    [
        [0.2, 0.2, 0.1, 0.2],
        [1.0, 1.0, 0.5, 0.0],
        [1.5, 0.0, 2.0, 0.0],
        [0.0, 0.0, 1.0, 1.0],
        [0.2, 0.2, 0.1, 0.2],
        [0.0, 0.0, 1.0, 2.0],
    ]
).double()
mixed, weights = attention(x, x, x)
print([round(w, 2) for w in weights[1].tolist()])  # bat: [0.11, 0.26, 0.3, 0.11, 0.11, 0.11]
print([round(m, 2) for m in mixed[1].tolist()])  # [0.76, 0.31, 0.97, 0.37], an animal
print(torch.allclose(attention_loop(x, x, x), mixed, atol=1e-12, rtol=0))  # True
