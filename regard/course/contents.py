"""The chapters in the order of the course, each with its idea in a line. Needs no torch."""

from regard.errors import ConfigError, did_you_mean

SECTIONS: dict[str, dict[str, str]] = {
    "Representations": {
        "embeddings": "a word becomes a row of a table",
        "sentences": "many vectors become one, and sentences can be compared",
        "context": 'one word "date", three meanings, three vectors',
        "positions": "how a network knows which word came first",
    },
    "Recurrent networks": {
        "recurrent": "one token after the other, and the shapes that come out",
        "characters": "guess the next letter, then write with the guesses",
        "forgetting": "what goes wrong: gradients that vanish, time, one vector for everything",
        "seq2seq": "one network reads, another writes",
    },
    "Attention": {
        "kernel": "ask the neighbours: regression as the first attention",
        "similarity": "how alike are two vectors? The dot product and the angle",
        "search": "query, key and value: a soft dictionary",
        "self_attention": "six words look at each other, step by step",
        "scale": "why scores are divided by the root of the width",
        "heads": "several heads see several things",
        "permutation": "without positions, order does not matter",
        "masks": "who may look at whom, and why minus infinity",
        "cheating": "train without the mask: a splendid loss and a useless model",
        "cross": "one sequence looks at another of any length",
        "alignment": "additive, dot, general, concat; global and local: finding the place",
        "glance": "soft and hard attention: a mean of all places, or one of them",
        "cost": "time and memory grow with the square of the length",
    },
    "The Transformer": {
        "transformer": "the whole network, part by part, and the published sizes",
        "norms": "layer norm and batch norm: what is averaged with what",
        "order": "which models know order, which know context: measured",
    },
}
CHAPTERS: dict[str, str] = {
    name: idea for section in SECTIONS.values() for name, idea in section.items()
}


def require_chapter(name: str) -> None:
    if name not in CHAPTERS:
        raise ConfigError(f'there is no chapter "{name}".{did_you_mean(name, CHAPTERS)}')
