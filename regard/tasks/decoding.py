"""How outputs are written: what the recipe says, and what someone asks for this time."""

from regard.config import DecodeSettings, Tree
from regard.toml import check

FILTERS = ("top_k", "top_p", "min_p")


def chosen_decoding(usual: DecodeSettings, asked: Tree, longest: int) -> DecodeSettings:
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
    settings = check(DecodeSettings, chosen, "decode")
    return settings.model_copy(update={"max_length": min(settings.max_length, longest)})
