"""How weights begin.

embedding tables     normal, standard deviation width ** -0.5
linear weights       uniform (Glorot & Bengio 2010)
biases               0
norm scales          1
learned positions    normal, standard deviation 0.02 (see positions.py)
"""

from torch import nn


def init_weights(module: nn.Module) -> None:
    """For `module.apply`: set the weights of one part, by the table above."""
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
