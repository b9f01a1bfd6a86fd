"""The Transformer of Vaswani et al. 2017: an encoder reads, a decoder writes and looks back.

B batch   S source positions   T target positions   V vocabulary
"""

from torch import Tensor, nn

from regard.models.decoder import Decoder, DecoderState
from regard.models.encoder import Encoder, Source
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.shapes import TransformerSettings


class EncoderDecoder(nn.Module):
    """source ids, target ids -> logits. Source and target share one embedding table when
    `source_vocabulary` is None; the output always shares the target's."""

    def __init__(
        self, s: TransformerSettings, source_vocabulary: int | None, vocabulary: int
    ) -> None:
        super().__init__()
        target = own = TokenEmbedding(vocabulary, s.width, scaled=s.embedding_scale)
        if source_vocabulary:
            own = TokenEmbedding(source_vocabulary, s.width, scaled=s.embedding_scale)
        self.encoder = Encoder(s, own, s.encoder_layers)
        self.decoder = Decoder(s, target, s.decoder_layers, cross=True, copying=s.copying)
        self.apply(init_weights)

    def forward(self, source: Source, target: Tensor) -> Tensor:
        """Teacher forcing: target ids (B, T) from START on -> logits (B, T, V) of what follows.
        Padding behind the target needs no mask: the causal one already hides it."""
        return self.decoder(target, self.start(source))

    # The three methods that decode/ asks for.

    def start(self, source: Source) -> DecoderState:
        return self.decoder.read(self.encoder(source), source)

    def step(self, state: DecoderState, tokens: Tensor) -> tuple[Tensor, DecoderState]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next."""
        return self.decoder.step(state, tokens)

    def reorder(self, state: DecoderState, rows: Tensor) -> DecoderState:
        return self.decoder.reorder(state, rows)
