"""What can be reproduced. A plan names its runs (recipes in the folder beside), makes their data
ready, and says what is claimed about the runs together."""

import re
from pathlib import Path

from regard.errors import ConfigError, did_you_mean
from regard.reproduce.claims import (
    Claim,
    above_baselines,
    anti_diagonal,
    better,
    goal,
    says,
    score,
    stated,
    within,
)
from regard.reproduce.label_plans import LABEL_PLANS
from regard.reproduce.plan import Plan
from regard.reproduce.sets import (
    brown_text,
    conversations,
    english_spanish,
    french_english,
    german_english,
    mail_subjects,
    pronunciations,
    reversed_rows,
    reviews,
    shakespeare,
)

RECIPES = Path(__file__).parent / "recipes"


PLANS: dict[str, Plan] = {
    "reverse": Plan(
        "rows of letters turned around, by additive attention and by a Transformer",
        ("additive", "transformer"),
        reversed_rows,
        (
            score("additive", "exact_match", 99),
            score("transformer", "exact_match", 99),
            within("additive", 10),
            within("transformer", 10),
            anti_diagonal("additive", at_least=95),
        ),
    ),
    "story": Plan(
        "German to English three times: no attention, additive attention, Transformer",
        ("none", "additive", "transformer"),
        german_english,
        (
            better("additive", "none", "bleu"),
            better("transformer", "additive", "bleu"),
            within("none", 20),
            within("additive", 20),
            within("transformer", 20),
            goal(score("none", "bleu", 15)),
            goal(score("additive", "bleu", 25)),
            goal(score("transformer", "bleu", 34)),
        ),
    ),
    "multi30k": Plan(
        "German to English in an hour",
        ("transformer",),
        german_english,
        (
            score("transformer", "bleu", 36),
            within("transformer", 60),
            goal(score("transformer", "bleu", 40)),
        ),
    ),
    "pronounce": Plan(
        "English words to their sounds",
        ("transformer",),
        pronunciations,
        (
            score("transformer", "wer", 25),
            score("transformer", "per", 6),
            within("transformer", 90),
            goal(score("transformer", "wer", 22)),
        ),
    ),
    "spanish": Plan(
        "English to Spanish, beside the published share of next tokens right, 67 %",
        ("transformer",),
        english_spanish,
        (
            score("transformer", "bleu", 40),
            stated("transformer", "token_accuracy"),
            within("transformer", 60),
            goal(score("transformer", "bleu", 50)),
        ),
    ),
    "french": Plan(
        "French to English, Je suis calme among it",
        ("transformer",),
        french_english,
        (
            stated("transformer", "bleu"),
            says("transformer", "Je suis calme.", "I'm calm.", "I am calm."),
            says("transformer", "Je suis calme", "I'm calm", "I am calm"),
            within("transformer", 30),
        ),
    ),
    "subjects": Plan(
        "e-mails to their subject lines, without and with copying",
        ("plain", "copying"),
        mail_subjects,
        (
            better("copying", "plain", "rougeL"),
            stated("copying", "rougeL"),
            within("plain", 30),
            within("copying", 30),
            goal(above_baselines("copying", "rougeL", "lead")),
        ),
    ),
    "chatbot": Plan(
        "replies in conversations",
        ("transformer",),
        conversations,
        (
            stated("transformer", "perplexity"),
            stated("transformer", "distinct2"),
            within("transformer", 30),
        ),
    ),
}


def _shakespeare(about: str, part: str, *claims: Claim) -> Plan:
    return Plan(about, (part,), shakespeare, (*claims, within(part, 60)))


CPU = "Shakespeare by characters, with nanoGPT's budget for a CPU"
PLANS |= {
    "shakespeare-cpu": _shakespeare(
        f"{CPU}: a Transformer",
        "transformer",
        score("transformer", "loss", 1.85),
        goal(score("transformer", "loss", 1.72)),
    ),
    "shakespeare-lstm": _shakespeare(f"{CPU}: an LSTM", "lstm", stated("lstm", "loss")),
    "shakespeare-gru": _shakespeare(f"{CPU}: a GRU", "gru", stated("gru", "loss")),
    "shakespeare-rnn": _shakespeare(f"{CPU}: a plain RNN", "rnn", stated("rnn", "loss")),
    "shakespeare": _shakespeare(
        "Shakespeare by characters, in an hour",
        "transformer",
        score("transformer", "loss", 1.62),
        goal(score("transformer", "loss", 1.50)),
    ),
    "reviews-gpt": Plan(
        "film reviews that nobody has labelled, by pieces of words",
        ("transformer",),
        reviews,
        (above_baselines("transformer", "bits_per_byte"), within("transformer", 60)),
    ),
    "brown": Plan(
        "the Brown corpus by words: an LSTM and a Transformer",
        ("lstm", "transformer"),
        brown_text,
        (
            stated("lstm", "perplexity"),
            stated("transformer", "perplexity"),
            within("lstm", 30),
            within("transformer", 30),
            goal(above_baselines("lstm", "perplexity")),
            goal(above_baselines("transformer", "perplexity")),
        ),
    ),
}


PLANS |= LABEL_PLANS


def recipe_of(plan: str, part: str) -> Path:
    """PLAN-PART.toml, or PLAN.toml of a plan with one part; folds (bag-0, bag-1) share one, and so
    do a part and what it is without the help of texts without labels (bag, bag-alone)."""
    single = RECIPES / f"{plan}.toml"
    part = re.sub(r"-(\d+|alone)$", "", part)
    return single if single.exists() else RECIPES / f"{plan}-{part}.toml"


def find_plan(name: str) -> Plan:
    if name not in PLANS:
        raise ConfigError(f'there is nothing called "{name}" here.{did_you_mean(name, PLANS)}')
    return PLANS[name]
