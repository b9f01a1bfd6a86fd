"""The n-gram model beside a network: it writes by the same settings, and is scored on the same
tokens."""

from pathlib import Path

from regard.models.ngram import NGram
from regard.tasks.text_recipe import WritingSettings
from regard.tasks.writer import Writer
from regard.text.tokenizer import Tokenizer


class NGramWriter(Writer):
    def __init__(
        self, model: NGram, tokenizer: Tokenizer, settings: WritingSettings, *, several: bool
    ) -> None:
        super().__init__(model, tokenizer, settings, None, several=several)
        self.model = model
        self.name = model.name

    def save(self, folder: Path) -> None:
        self.model.save(folder)
