"""The baseline of summaries: answer with the first sentence. News and mails say first what matters,
so it is hard to beat."""

import re
from collections.abc import Sequence

from regard.models.copying import Copying
from regard.names import Prediction

PARAGRAPH = re.compile(r"\n\s*\n")
END = re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])")  # not the point of 2.5


class Lead(Copying):
    name = "lead sentence"
    file = "lead.json"

    @staticmethod
    def differs(pairs: Sequence[tuple[str, str]]) -> bool:
        """Do most sources have more than one sentence?"""
        return 2 * sum(first_sentence(source) != source.strip() for source, _ in pairs) > len(pairs)

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        return [Prediction(text, first_sentence(text)) for text in inputs]


def first_sentence(text: str) -> str:
    """Of the first paragraph, all up to a mark that ends a sentence, on one line; where there is no
    such mark, the first line.

    >>> first_sentence("Hi all. Read 2.5 pages!"), first_sentence("No end\\nAnother")
    ('Hi all.', 'No end')
    """
    first = PARAGRAPH.split(text.strip(), maxsplit=1)[0]
    sentence, *more = END.split(first, maxsplit=1)
    ended = bool(more) or sentence.endswith((".", "!", "?", "…", "。", "！", "？"))
    return " ".join(sentence.split("\n") if ended else sentence.split("\n")[:1]).strip()
