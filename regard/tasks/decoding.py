"""How outputs are written: what the recipe says, and what someone asks for this time."""

from typing import Any

from regard.config import DecodeSettings, Tree
from regard.toml import check

PENALTIES = {"repetition_penalty": 1.0, "frequency_penalty": 0.0}
FILTERS = ("top_k", "top_p", "min_p", "typical_p")


def chosen_decoding(usual: DecodeSettings, asked: Tree, longest: int | None = None) -> Any:
    """Asking for a temperature means asking to sample, also where the recipe has beams, and the
    other way round; asking for n outputs without one means a beam that wide. No output is longer
    than the network takes."""
    chosen = {**usual.model_dump(), **asked}
    if asked.get("beam", 1) != 1 and "temperature" not in asked:
        chosen["temperature"] = 0.0
    if not chosen["temperature"]:  # filters of the recipe are for its own sampling
        chosen |= {name: asked.get(name) for name in FILTERS}
    if "beam" not in asked:
        wide = max(chosen["beam"], chosen["n"])
        chosen["beam"] = 1 if chosen["temperature"] else wide
    beam = chosen["beam"]
    if isinstance(beam, int) and beam > 1:  # penalties of the recipe are for one path
        chosen |= {name: asked.get(name, idle) for name, idle in PENALTIES.items()}
    settings = check(type(usual), chosen, "decode")
    if longest is None:
        return settings
    return settings.model_copy(update={"max_length": min(settings.max_length, longest)})
