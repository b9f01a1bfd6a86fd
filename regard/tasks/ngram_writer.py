"""The n-gram model beside a network: it writes by the same settings, and is scored on the same
tokens. With it goes what is remembered of the training text."""

from pathlib import Path
from typing import Self

from regard.data.seen import Seen
from regard.models.ngram import NGram
from regard.tasks.text_recipe import WritingSettings
from regard.tasks.writer import Writer
from regard.text.tokenizer import Tokenizer


class NGramWriter(Writer):
    def __init__(
        self,
        model: NGram,
        tokenizer: Tokenizer,
        settings: WritingSettings,
        *,
        several: bool,
        seen: Seen | None,
    ) -> None:
        """`seen`: None where a run did not keep it."""
        super().__init__(model, tokenizer, settings, None, several=several)
        self.model, self.seen = model, seen
        self.name = model.name

    def save(self, folder: Path) -> None:
        self.model.save(folder)
        if self.seen is not None:
            self.seen.save(folder)

    @classmethod
    def load(
        cls, folder: Path, tokenizer: Tokenizer, settings: WritingSettings, *, several: bool
    ) -> Self:
        model, seen = NGram.load(folder), Seen.load(folder)
        return cls(model, tokenizer, settings, several=several, seen=seen)
