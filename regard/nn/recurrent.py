"""Networks that read one token after the other and carry a state along: RNN, GRU, LSTM. torch.nn
does the work; here padding is kept out of it.

B batch   T positions   I input width   W width of the state   O width of the output
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.nn.padding import require_lengths
from regard.shapes import RecurrentSettings

LAYERS: dict[str, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
CELLS: dict[str, type[nn.RNNCellBase]] = {
    "rnn": nn.RNNCell,
    "gru": nn.GRUCell,
    "lstm": nn.LSTMCell,
}

State = Tensor | tuple[Tensor, Tensor]  # (layers * directions, B, W); an LSTM has a second one


class Recurrent(nn.Module):
    """x (B, T, I) -> outputs (B, T, O) and the last state. Rows may have unequal lengths: each is
    read to its own end, forwards and backwards, and what stands behind it changes nothing.

    >>> layers = Recurrent(RecurrentSettings(cell="lstm", width=20, layers=2), 10)
    >>> outputs, (hidden, cell) = layers(torch.randn(3, 5, 10))
    >>> outputs.shape, hidden.shape, cell.shape
    (torch.Size([3, 5, 20]), torch.Size([2, 3, 20]), torch.Size([2, 3, 20]))
    """

    def __init__(self, s: RecurrentSettings, inputs: int) -> None:
        super().__init__()
        self.settings = s
        self.layers = LAYERS[s.cell](
            inputs,
            s.width,
            s.layers,
            batch_first=True,
            dropout=s.dropout if s.layers > 1 else 0.0,  # torch drops between layers only
            bidirectional=s.bidirectional,
            **({"proj_size": s.projection} if s.projection else {}),
        )

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Any = None
    ) -> tuple[Tensor, Any]:
        """`lengths` (B,): real positions of each row; None: all. `state`: where to begin."""
        if lengths is None:
            return self.layers(x, state)
        T = x.size(1)
        require_lengths(lengths, x.size(0), T)
        # torch packs no empty rows: they are read as one position, and that is taken back.
        packed = pack_padded_sequence(
            x if T else F.pad(x, (0, 0, 0, 1)),
            lengths.clamp(min=1).cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        outputs, last = self.layers(packed, state)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=max(1, T))
        empty = (lengths == 0).to(x.device)
        if not bool(empty.any()):
            return outputs, last
        outputs = outputs.masked_fill(empty[:, None, None], 0.0)
        return outputs[:, :T], _unmoved(last, state, empty)

    def last(self, state: Any) -> Tensor:
        """The state (layers * directions, B, W) -> (B, O): the top layer's, one vector for all that
        was read."""
        hidden = state[0] if isinstance(state, tuple) else state
        return torch.cat(list(hidden[-2:] if self.settings.bidirectional else hidden[-1:]), dim=-1)


def _unmoved(last: Any, state: Any, empty: Tensor) -> Any:
    """The last state, but for empty rows the one they began with."""
    if isinstance(last, tuple):
        before = state if isinstance(state, tuple) else (None, None)
        return tuple(_unmoved(one, old, empty) for one, old in zip(last, before, strict=True))
    return torch.where(
        empty[None, :, None], torch.zeros_like(last) if state is None else state, last
    )
