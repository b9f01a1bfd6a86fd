"""`regard demo`, whole, with a small budget."""

import json
import subprocess
import sys

from PIL import Image


def test_the_demo_goes_from_nothing_to_scores_samples_and_pictures(tmp_path):
    def demo():
        command = [sys.executable, "-m", "regard", "demo", "--budget", "20s"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    done = demo()
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "runs" / "demo"
    facts = json.loads((folder / "run.json").read_text())
    scores, beside = facts["test"]["scores"], facts["test"]["baseline"]["scores"]
    for name in ("per", "wer"):
        score = scores[name]
        assert 0 < score["low"] <= score["value"] <= score["high"] <= 110
        assert (
            f"{score['value']:.2f}" in done.stdout and f"{beside[name]['value']:.2f}" in done.stdout
        )
    log = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in log if "loss" in line]
    assert losses[-1] < losses[0]  # however slow the machine, it learns something
    assert len(facts["samples"]) == 12 and "tchaikovsky" in done.stdout
    assert done.stderr.count("regard ") >= 3 and "regard look runs/demo" in done.stderr
    with Image.open(folder / "attention.png") as image:
        assert image.width > 300
    assert "attention" in (folder / "attention.html").read_text(encoding="utf-8")
    assert "Scores" in (folder / "README.md").read_text(encoding="utf-8")
