from typing import Any

import torch
from torch import Tensor

from regard.models.decoder import Decoder
from regard.run import check  # regard.check(model, ...) is the same
from regard.shapes import DecoderSettings


class Cheater(Decoder):  # its author forgot the mask
    def forward(self, ids: Tensor, *_: Any, **__: Any) -> Tensor:
        x = self.begin(ids)
        for block in self.blocks:
            x = block(x, None, self.positions.turn)
        return self.embed.scores(self.norm(x))


torch.manual_seed(0)
for kind in (Decoder, Cheater):
    model = kind.of(DecoderSettings(width=16, heads=2, layers=1), vocabulary=20)
    found = check(model, kind="decoder", vocabulary=20, cases=6)["causality"]
    print(found.verdict, found.note)
# holds
# FAILS later tokens change earlier outputs, first at blocks.0.attention.attend (Attend)
