import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.bootstrap import resample
from regard.metrics.translation import bleu, chrf

ROOT = Path(__file__).resolve().parents[2]
patient = settings(deadline=None, max_examples=100)  # a busy machine proves nothing

PUBLIC = {bleu: sacrebleu.corpus_bleu, chrf: sacrebleu.corpus_chrf}
METRICS = pytest.mark.parametrize("metric", [bleu, chrf], ids=["bleu", "chrf"])

WORDS = ["the", "cat", "The", "sat", "on", "naïve", "猫", "3.5", "well-known", "it's", "&amp;", "."]
lines = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=12)
examples = st.lists(
    st.tuples(lines, st.lists(lines, min_size=1, max_size=3)), min_size=1, max_size=5
)


def by_sacrebleu(metric, outputs, references):
    """References as sacrebleu wants them: all first ones, all second ones, None for no more."""
    return PUBLIC[metric](outputs, list(zip_longest(*references))).score


def corpus(size, seed=0):
    """Outputs that miss and swap words, one to three references each, some outputs empty."""
    random = Random(seed)
    outputs, references = [], []
    for _ in range(size):
        text = random.choices(WORDS, k=random.randint(1, 14))
        kept = [word for word in text if random.random() > 0.2]
        outputs.append(" ".join(kept) if random.random() > 0.05 else "")
        others = [" ".join(random.sample(text, len(text))) for _ in range(random.randint(0, 2))]
        references.append([" ".join(text), *others])
    return outputs, references


@METRICS
@patient
@given(examples)
def test_the_value_is_the_one_sacrebleu_gives(metric, examples):
    outputs, references = zip(*examples, strict=True)
    expected = by_sacrebleu(metric, outputs, references)
    assert metric(outputs, references).value == pytest.approx(expected, abs=1e-9)


@METRICS
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_the_one_sacrebleu_gives_for_a_larger_corpus(metric, seed):
    outputs, references = corpus(150, seed)
    expected = by_sacrebleu(metric, outputs, references)
    assert 10 < expected < 100
    assert metric(outputs, references).value == pytest.approx(expected, abs=1e-9)


@METRICS
def test_a_sample_is_worth_what_sacrebleu_gives_for_its_sentences(metric):
    outputs, references = corpus(12)
    tally = metric.tally(outputs, references)
    values = tally.value_of(resample(tally.rows, samples=20, seed=5))
    drawn = np.random.default_rng(5).integers(0, 12, size=(20, 12))
    for rows, value in zip(drawn, values, strict=True):
        expected = by_sacrebleu(metric, [outputs[i] for i in rows], [references[i] for i in rows])
        assert value == pytest.approx(expected, abs=1e-9)


@METRICS
def test_outputs_without_anything_score_zero(metric):
    assert metric(["", ""], [["the cat"], ["a dog", "dogs"]]).value == 0
    assert metric([""], [[""]]).value == 0


def test_the_signature_is_sacrebleus_own_and_how_the_interval_was_made():
    version, made = sacrebleu.__version__, "n:2|bootstrap:1000|seed:0"
    outputs, one, several = ["a", "b"], [["a"], ["b"]], [["a"], ["b", "c"]]
    start = "case:mixed|eff:no|tok:13a|smooth:exp"
    assert bleu(outputs, one).signature == f"BLEU|nrefs:1|{start}|version:{version}|{made}"
    assert bleu(outputs, several).signature.startswith(f"BLEU|nrefs:var|{start}|")
    start = "case:mixed|eff:yes|nc:6|nw:0|space:no"
    assert chrf(outputs, one).signature == f"chrF2|nrefs:1|{start}|version:{version}|{made}"


def test_tokenized_outputs_are_scored_without_a_remark(capfd, caplog):
    bleu(["the cat ."] * 200, [["the cat ."]] * 200)
    assert capfd.readouterr() == ("", "") and caplog.records == []


def watched(code, home):
    """Run code in a Python that ends with 1 at the first file it writes or socket it opens."""
    guard = """
import os, sys, tempfile
tempfile.gettempdir()  # Python tries the folder for temporary files by writing there, once

def watch(event, details):
    written = event == "open" and (details[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if written or event.startswith("socket.") or event in ("os.mkdir", "os.rename"):
        os.write(2, f"{event} {details}".encode())
        os._exit(1)

sys.addaudithook(watch)
"""
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-B", "-c", guard + code]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True)


def test_scoring_writes_no_file_and_opens_no_connection(tmp_path):
    code = "from regard.metrics import METRICS\n[m(['a b'], [['a c']]) for m in METRICS.values()]"
    done = watched(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", ["open('x', 'w')", "import socket; socket.socket()"])
def test_writing_and_connecting_would_be_seen(tmp_path, code):
    assert watched(code, tmp_path).returncode == 1


def test_importing_the_metrics_does_not_import_sacrebleu(tmp_path):
    code = "import sys, regard.metrics; os._exit(2 * ('sacrebleu' in sys.modules))"
    assert watched(code, tmp_path).returncode == 0
