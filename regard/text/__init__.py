"""Strings to ids and back: `fit_tokenizer` learns a tokenizer, `load_tokenizer` restores one."""

from collections.abc import Iterable
from typing import Any

from regard.config import TokenizerSettings
from regard.errors import did_you_mean
from regard.text.bpe import Bpe
from regard.text.symbols import Symbols
from regard.text.tokenizer import Encoding, Tokenizer, broken
from regard.text.wordpiece import WordPiece

__all__ = ["TOKENIZERS", "Encoding", "Tokenizer", "fit_tokenizer", "load_tokenizer"]

TOKENIZERS: dict[str, type[Symbols] | type[Bpe] | type[WordPiece]] = {
    "character": Symbols,
    "word": Symbols,
    "wordpunct": Symbols,
    "bpe": Bpe,
    "bytes": Bpe,
    "wordpiece": WordPiece,
}


def fit_tokenizer(settings: TokenizerSettings, texts: Iterable[str]) -> Tokenizer:
    """Learn a vocabulary from texts. Equal settings and texts give an equal tokenizer."""
    return TOKENIZERS[settings.kind].fit(settings, texts)


def load_tokenizer(data: Any) -> Tokenizer:
    """The tokenizer whose `as_json()` gave `data`, or a RunError that says what is broken."""
    if not isinstance(data, dict):
        raise broken(f"expected a table of settings, found a {type(data).__name__}")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in TOKENIZERS:
        hint = did_you_mean(str(kind), TOKENIZERS).strip()
        raise broken(f"there is no tokenizer of kind {kind!r} ({hint.removesuffix('.')})")
    return TOKENIZERS[kind].load(data)
