"""The smallest network that deserves the name: one attention, one feed-forward layer. No positions,
no norms, no way around: what is left out here is what the big ones add.

B batch   T positions   E model width   V vocabulary
"""

from torch import Tensor, nn

from regard.nn.attention import SelfAttention
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feed_forward import FeedForward
from regard.nn.mask import Mask
from regard.shapes import StackSettings


class SimpleTransformer(nn.Module):
    """As many judgements come out as tokens went in: 100 words in, 100 times V scores out. Nothing
    in it knows a longest input; only memory and time do, which grow with the square of T."""

    def __init__(self, vocabulary: int, width: int = 2048, feed: int = 1024) -> None:
        super().__init__()
        s = StackSettings(width=width, heads=1, feed=feed, positions="none")
        self.embed = TokenEmbedding(vocabulary, width, scaled=False)
        self.attention = SelfAttention(s)
        self.feed = FeedForward(s)
        self.judge = nn.Linear(width, vocabulary)

    def forward(self, ids: Tensor, mask: Mask | None = None) -> Tensor:
        """(B, T) -> (B, T, V)"""
        x = self.attention(self.embed(ids), mask, lambda x, start: x)
        return self.judge(self.feed(x))
