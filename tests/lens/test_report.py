"""The report of a run: what it says, from plain dicts. That it is safe is shown in test_page.py."""

import copy
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lens.report import report_page, smoothed, summary_html

HOSTILE = "</script><img src=x onerror=alert(1)> & \x1b[31m"


def a_score(value, name="per"):
    return {"value": value, "low": value - 0.5, "high": value + 1, "signature": f"{name}|n:40"}


NEAREST = {"name": "nearest", "scores": {"per": a_score(30)}}
FACTS = {
    "format": 2,
    "task": "transduce",
    "data": {
        "sha256": "ab12",
        "split_rule": "a hash of the source",
        "train": 1234,
        "validation": 56,
        "test": 57,
        "left_out_of_training": 3,
        "skipped_rows": 0,
        "overlapping": 0,
        "notes": [],
    },
    "vocabulary": {"both": 31},
    "parameters": 98765,
    "environment": {"torch": "2.13.0", "threads": 2},
    "weights": "best",
    "steps": 1500,
    "seconds": 75.2,
    "tokens_per_second": 4321,
    "memory": 345_678_901,
    "validation": {"loss": 1.25, "per": 12.0},
    "test": {
        "task": "transduce",
        "data": "test part",
        "examples": 40,
        "too_long": 0,
        "unknown_inputs": 0,
        "in_training": 0,
        "scores": {"token_accuracy": a_score(91, "token_accuracy"), "per": a_score(7)},
        "baseline": NEAREST,
        "baselines": [NEAREST, {"name": "copy", "scores": {"per": a_score(95)}}],
    },
    "samples": [
        {
            "input": "one",
            "output": "W AH N",
            "score": -0.25,
            "wanted": ["W AH N"],
            "in_training": True,
        },
        {
            "input": "two",
            "output": "T UW",
            "score": None,
            "wanted": ["W AH N"],
            "in_training": False,
        },
    ],
}
RECIPE = {
    "task": "transduce",
    "seed": 7,
    "data": {"path": "../here/pairs.tsv", "source": "word", "split": [80.0, 10.0, 10.0]},
    "source": {"kind": "character", "lowercase": True},
    "train": {"steps": 1500, "rate": 0.003, "budget": None, "label_smoothing": 0.0},
}
LOG = [
    {"step": 500, "loss": 2.5, "rate": 0.003, "norm": 4.0},
    {"step": 500, "validation": {"loss": 2.0, "per": 20.0}},
    {"step": 1000, "loss": 1.5, "rate": 0.002, "norm": 3.0},
    {"step": 1000, "validation": {"loss": 1.25, "per": 12.0}},
    {"step": 1500, "loss": 1.123456789, "rate": 0.0, "norm": 2.0},
    {"step": 1500, "validation": {"loss": 1.75, "per": 11.0}},
]


def data_of(page):
    """What the page's script will draw; JSON as a browser reads it, so NaN is an error."""
    text = re.search(r'<script type="application/json" id="given">(.*?)</script>', page)[1]
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def report(log=LOG, recipe=RECIPE, **changes):
    return data_of(report_page("demo", {**FACTS, **changes}, log, recipe))


def with_test(**changes):
    return {"test": {**FACTS["test"], **changes}}


def curves(charts):
    return {
        (chart["title"], line["name"]): dict(zip(line["steps"], line["values"], strict=True))
        for chart in charts
        for line in chart["lines"]
    }


def test_the_sentence_says_what_was_trained_how_long_and_how_fast():
    assert report()["sentence"] == (
        "A transduce model of 98,765 parameters, trained for 1,500 steps in 1 min 15 s "
        "(4,321 tokens/s). It holds the best weights."
    )


def test_every_metric_stands_beside_all_baselines_and_one_that_is_missing_stays_empty():
    accuracy, per = report()["scores"]
    assert [(row["name"], row["value"], row["low"], row["high"]) for row in per["rows"]] == [
        ("this model", 7, 6.5, 8),
        ("nearest", 30, 29.5, 31),
        ("copy", 95, 94.5, 96),
    ]
    assert [row["value"] for row in accuracy["rows"]] == [91, None, None]
    assert (accuracy["better"], per["better"]) == ("higher is better", "lower is better")
    assert per["signatures"] == ["per|n:40"]


def test_the_curves_are_the_log():
    drawn = curves(report()["charts"])
    loss = {500: 2.5, 1000: 1.5, 1500: 1.1235}
    assert drawn["Loss", "training"] == loss
    assert drawn["Loss", "validation"] == {500: 2.0, 1000: 1.25, 1500: 1.75}
    assert drawn["Learning rate", "rate"] == {500: 0.003, 1000: 0.002, 1500: 0.0}
    assert drawn["Gradient norm, before clipping", "norm"] == {500: 4.0, 1000: 3.0, 1500: 2.0}
    (per,) = [line for (title, _), line in drawn.items() if title.startswith("Validation: PER")]
    assert per == {500: 20.0, 1000: 12.0, 1500: 11.0}


def test_the_densest_curve_of_a_chart_comes_first_since_the_cursor_stops_at_its_points():
    dense = [{"step": n, "loss": 1 / n, "rate": 0.1, "norm": 1.0} for n in range(1, 500)]
    for chart in report(log=dense + LOG)["charts"]:
        lengths = [len(line["steps"]) for line in chart["lines"]]
        assert lengths[0] == max(lengths)


@pytest.mark.parametrize("log", [[], LOG[:1], LOG[1:2], LOG[:2]])
def test_an_empty_log_and_a_single_point_make_a_page(log):
    charts = report(log=log)["charts"]
    assert all(line["steps"] == [500] for chart in charts for line in chart["lines"])
    assert all(chart["lines"] for chart in charts)
    assert bool(charts) == bool(log)


def test_numbers_that_are_not_finite_are_left_out():
    odd = [
        {"step": 1, "loss": float("nan"), "rate": 0.1, "norm": float("inf")},
        {"step": 2, "validation": {"loss": float("nan"), "per": 3.0}},
    ]
    never = {"per": {**a_score(1.0), "low": float("nan")}}
    made = report(log=odd + LOG, **with_test(scores=never))
    assert 1 not in curves(made["charts"])["Loss", "training"]
    assert 2 not in curves(made["charts"])["Loss", "validation"]
    assert made["kept"] == 1000 and made["scores"][0]["rows"][0]["value"] is None


def test_the_marked_step_is_the_best_validation_when_its_weights_are_kept():
    assert report()["kept"] == 1000
    assert report(weights="last")["kept"] is report(weights="averaged")["kept"] is None
    assert report(log=[])["kept"] is None


def test_the_step_that_was_kept_is_known_without_the_log():
    kept = {"step": 1200, "validation": {"loss": 1.25}}
    found = report(log=[], kept=kept)
    assert found["kept"] == 1200
    assert "best weights, those of step 1,200 (validation: loss 1.25)." in found["sentence"]


def test_a_bag_was_learned_at_once_and_has_neither_curves_nor_an_optimizer():
    bag = {**RECIPE, "keep": "head", "model": {"kind": "bag", "grams": 2, "judge": "svm"}}
    log = [{"step": 0, "validation": {"loss": 0.25}}]
    found = report(log, bag, steps=0, seconds=0.5, tokens_per_second=0)
    assert (
        found["sentence"] == "A transduce model of 98,765 parameters, learned at once in 0.5 "
        "seconds."
    )
    assert found["at_once"] and found["charts"] == [] and found["kept"] is None
    sections = {one["title"]: dict(one["rows"]) for one in found["settings"]}
    assert "train" not in sections and sections["model"]["judge"] == "svm"
    assert not report()["at_once"] and report()["charts"]


def test_each_label_has_a_row_and_the_picture_of_the_judgements_is_part_of_the_page():
    one = {"label": "\x1b[31m", "texts": 3, "precision": 50.0, "recall": 25.0, "f1": 33.3}
    facts = {**FACTS, **with_test(details={"classes": [one]})}
    found = data_of(report_page("demo", facts, LOG, RECIPE, b"\x89PNG"))
    assert found["labels"]["rows"] == [["[U+001B][31m", "3", "50.00", "25.00", "33.30"]]
    assert found["judgements"] == "data:image/png;base64,iVBORw=="
    assert report()["judgements"] is None and report()["labels"]["rows"] == []


def test_a_reader_is_told_when_the_two_losses_can_not_be_compared():
    smooth = {**RECIPE, "train": {"label_smoothing": 0.1}}
    assert "label smoothing (0.1)" in report(recipe=smooth)["charts"][0]["note"]
    assert report()["charts"][0]["note"] == ""


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=130))
def test_smoothing_takes_medians_of_as_many_points_before_as_after(values):
    found, reach = smoothed(values), max(1, len(values) // 50)
    for i in range(reach, len(values) - reach):
        assert found[i] == pytest.approx(np.median(values[i - reach : i + reach + 1]))
    assert len(found) == len(values) and found[0] == values[0]


def test_one_odd_batch_does_not_move_the_smoothed_curve():
    calm = [1.0] * 200
    assert smoothed([*calm, 1000.0, *calm]) == [1.0] * 401


def test_what_may_surprise_about_the_scores_is_said():
    assert report()["remarks"] == []
    counts = {"unknown_inputs": 3000, "in_training": 1, "skipped_rows": 4}
    assert report(**with_test(**counts))["remarks"] == [
        "3,000 inputs hold pieces that the model has never met.",
        "1 inputs were among the training inputs: the scores flatter the model.",
        "4 rows or files could not be used and were left out.",
    ]


def test_the_data_table_says_where_examples_came_from_and_where_they_went():
    data = {**FACTS["data"], "skipped_rows": 4, "overlapping": 5, "notes": ["a header was found."]}
    assert report(data=data)["data"] == [
        ["from", "pairs.tsv"],
        ["source", "word"],
        ["training examples", "1,234"],
        ["validation examples", "56"],
        ["test examples", "57"],
        ["split", "80 / 10 / 10 by a hash of the source"],
        [
            "left out",
            "3 training examples, empty or longer than the model takes; "
            "5 training examples that a validation or test file holds too; "
            "4 rows or files that could not be used",
        ],
        ["guessed", "a header was found."],
        ["SHA-256", "ab12"],
    ]
    whole = report(data={**FACTS["data"], "left_out_of_training": 0})
    assert ["left out", "nothing"] in whole["data"]


def test_a_report_names_files_but_not_their_folders():
    files = {"path": ["/home/ann/a.en", "/home/ann/a.de"], "test": "/home/ann/test.tsv"}
    page = report_page("demo", FACTS, LOG, {"data": {**files, "split": [90, 5, 5]}})
    assert "home" not in page and "ann" not in json.dumps(data_of(page))
    rows = dict(data_of(page)["data"])
    assert (rows["from"], rows["test"]) == ("a.en, a.de", "test.tsv")
    assert rows["split"] == "a hash of the source"  # shares do not hold where a side has a file


def test_every_setting_that_is_set_is_in_its_section():
    assert report()["settings"] == [
        {"title": "recipe", "rows": [["task", "transduce"], ["seed", "7"]]},
        {
            "title": "data",
            "rows": [["path", "pairs.tsv"], ["source", "word"], ["split", "80, 10, 10"]],
        },
        {"title": "source", "rows": [["kind", "character"], ["lowercase", "true"]]},
        {
            "title": "train",
            "rows": [["steps", "1,500"], ["rate", "0.003"], ["label_smoothing", "0"]],
        },
    ]


def test_hostile_samples_arrive_readable():
    sample = {
        "input": HOSTILE,
        "output": "a\nb",
        "score": None,
        "wanted": ["W AH N"],
        "in_training": False,
    }
    (found,) = report(samples=[sample])["samples"]
    assert found["input"] == "</script><img src=x onerror=alert(1)> & [U+001B][31m"
    assert found["output"] == "a↵b"


def test_making_a_page_changes_nothing_it_was_given():
    before = copy.deepcopy((FACTS, LOG, RECIPE))
    report_page("demo", FACTS, LOG, RECIPE)
    assert (FACTS, LOG, RECIPE) == before


def test_a_long_training_stays_a_page_one_can_mail():
    log = [{"step": n, "loss": 1 / n, "rate": 1e-3 / n, "norm": 1 / n} for n in range(1, 1001)]
    assert len(report_page("demo", FACTS, log, RECIPE)) < 150_000


# The fragment for notebooks


class Fragment(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_summary_shows_every_score_beside_the_baselines():
    texts = Fragment(summary_html("demo", FACTS)).texts
    assert texts[0] == "demo" and "98,765 parameters" in texts[1]
    assert texts[2:] == [
        *("95 % interval", "this model", "nearest", "copy"),
        *("next tokens right, %", "91.00 (90.50 to 92.00)", "-", "-"),
        *("PER, pieces wrong, %", "7.00 (6.50 to 8.00)"),
        *("30.00 (29.50 to 31.00)", "95.00 (94.50 to 96.00)"),
    ]


def test_nothing_in_a_summary_can_become_markup():
    tame, baselines = Fragment(summary_html("demo", FACTS)), [{"name": HOSTILE, "scores": {}}] * 2
    wild = Fragment(
        summary_html(HOSTILE, {**FACTS, "task": HOSTILE, **with_test(baselines=baselines)})
    )
    assert wild.tags == tame.tags
    assert {tag for tag, _ in tame.tags} == {"div", "p", "b", "table", "tr", "th", "td"}
    assert {key for _, attributes in tame.tags for key, _ in attributes} == {"style"}
    assert wild.texts[0] == "</script><img src=x onerror=alert(1)> & [U+001B][31m"


# In a browser, where there is one


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no browser here")
@pytest.mark.parametrize("log", [[], LOG[:2], LOG], ids=["empty", "one point", "several"])
def test_a_browser_draws_every_curve_under_the_policy(tmp_path, log):
    odd = {**FACTS["test"]["scores"], "bleu": {"value": float("nan")}, "chrf": a_score(0.0)}
    facts = {**FACTS, **with_test(scores=odd)}
    (tmp_path / "report.html").write_text(report_page("demo", facts, log, RECIPE))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    page = (tmp_path / "report.html").as_uri()
    done = subprocess.run(
        ["chromium", *flags, "--enable-logging=stderr", "--dump-dom", page],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "CONSOLE" not in done.stderr  # neither an error nor a refusal
    charts = report(log=log)["charts"]
    assert done.stdout.count('role="slider"') == len(charts)
    drawn = re.findall(r'<g class="(?:raw|smooth|dots|plain)"><path d="M[\d.]+ [\d.]+', done.stdout)
    assert len(drawn) == sum(len(chart["lines"]) for chart in charts)
    assert "NaN" not in done.stdout and "7.00" in done.stdout and "W AH N" in done.stdout


def dom_of(path, page, *flags):
    """What a browser makes of a page, and what it complained about."""
    path.write_text(page)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,2000", *flags]
    done = subprocess.run(
        ["chromium", *flags, f"--user-data-dir={path.parent}", "--enable-logging=stderr"]
        + ["--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout, done.stderr


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no browser here")
def test_a_browser_shows_labels_and_judgements_under_the_policy_and_no_curves_of_a_bag(tmp_path):
    one = {"label": "rare", "texts": 3, "precision": 50.0, "recall": 25.0, "f1": 33.3}
    facts = {**FACTS, **with_test(details={"classes": [one]}), "steps": 0}
    page = report_page("demo", facts, LOG, RECIPE, b"\x89PNG")
    drawn, said = dom_of(tmp_path / "report.html", page)
    assert "CONSOLE" not in said and "<td>33.30</td>" in drawn
    assert '<img src="data:image/png;base64,iVBORw=="' in drawn
    assert re.search(r'<section class="card" id="curves"[^>]* hidden', drawn)
    assert not re.search(r'<section class="card" id="labels"[^>]* hidden', drawn)
    assert re.search(r'id="labels"[^>]* hidden', dom_of(tmp_path / "none.html", plain_page())[0])


def plain_page():
    return report_page("demo", FACTS, LOG, RECIPE)


LINES = """<script>addEventListener("load", () => {
  const lines = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
  };
  const cells = [...document.querySelectorAll("#samples td:nth-child(2)")];
  document.body.dataset.lines = cells.map(lines).join(" ");
});</script>"""


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no browser here")
def test_a_label_is_not_broken_into_two_lines_beside_a_long_text(tmp_path):
    sample = {"input": "a long text of many words " * 40, "wanted": ["delivery"], "score": -0.1}
    facts = {**FACTS, "samples": [{**sample, "output": "delivery", "in_training": False}]}
    page = report_page("demo", facts, LOG, RECIPE)
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page) + LINES
    drawn, _ = dom_of(tmp_path / "report.html", page)
    assert 'data-lines="1"' in drawn
