"""Everything that the course teaches in its sections 1 to 4 is tested, by a file that names it."""

import ast
from pathlib import Path

import pytest

TAUGHT = {
    1: (
        "one-hot vs dense embeddings",
        "sentence embeddings",
        "fixed vs contextual",
        "sinusoidal positions",
        "learned, rotary, relative or none",
    ),
    2: (
        "RNN, LSTM, GRU",
        "sequence shapes",
        "character language model",
        "what goes wrong",
        "encoder-decoder (Sutskever)",
    ),
    3: (
        "Nadaraya-Watson",
        "soft and hard attention on images",
        "Bahdanau and Luong",
        "parameter-free self-attention",
        "similarity by dot product",
        "scaled dot-product",
        "multi-head",
        "permutation",
        "masks",
        "cross-attention",
        "cost",
        "query, key, value as search",
    ),
    4: (
        "encoder, decoder, encoder-decoder",
        "layer norm vs batch norm",
        "pre- and post-norm, ReLU, GELU, SwiGLU, RMS norm",
        "word order / context table",
    ),
}


def spoken_for() -> list[str]:
    """The first words of every file of tests here that has tests."""
    trees = [ast.parse(path.read_text("utf-8")) for path in Path(__file__).parent.glob("test_*.py")]
    tests = [t for t in trees if any(isinstance(part, ast.FunctionDef) for part in t.body)]
    return [" ".join((ast.get_docstring(tree) or "").split()) for tree in tests]


@pytest.mark.parametrize(
    ("section", "taught"), [(section, name) for section, names in TAUGHT.items() for name in names]
)
def test_what_is_taught_is_named_by_the_file_that_tests_it(section, taught):
    assert any(f"section {section}" in words and taught in words for words in spoken_for())
