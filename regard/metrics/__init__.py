"""How good: pure functions of lists, each score with its interval and its signature."""

from regard.metrics.error_rates import piece_error_rate, whole_error_rate
from regard.metrics.matches import exact_match
from regard.metrics.metric import Metric
from regard.metrics.rouge import rouge1, rouge2, rougeL
from regard.metrics.translation import bleu, chrf
from regard.metrics.variety import distinct1, distinct2

METRICS: dict[str, Metric] = {
    "exact_match": exact_match,
    "per": piece_error_rate,
    "wer": whole_error_rate,
    "bleu": bleu,
    "chrf": chrf,
    "rouge1": rouge1,
    "rouge2": rouge2,
    "rougeL": rougeL,
    "distinct1": distinct1,
    "distinct2": distinct2,
}
LOWER_IS_BETTER = frozenset(
    {
        "per",
        "wer",
        "perplexity",
        "loss",
        "bits_per_byte",
        "memorised",
        "log_loss",
        "calibration_error",
    }
)
