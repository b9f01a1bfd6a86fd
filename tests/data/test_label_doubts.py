from pathlib import Path

import pytest

from regard.data.label_doubts import doubts_about, refuse_ids, refuse_useless
from regard.data.labels import Labelled
from regard.errors import DataError


def labelled(*labels: str) -> list[Labelled]:
    return [Labelled(f"text {number}", label) for number, label in enumerate(labels)]


def refusal(refuse, examples: list[Labelled], separator: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        refuse(examples, Path("x.tsv"), separator)
    return str(caught.value)


def test_one_class_is_nothing_to_tell_apart():
    assert refusal(refuse_useless, labelled("a", "a", "a")).startswith(
        "x.tsv: nothing to tell apart: every row has the label 'a'. Add rows"
    )
    assert "nothing to tell apart" in refusal(refuse_useless, labelled("a", "a;", "a;a"), ";")


def test_a_thousand_labels_in_as_many_rows_look_like_ids():
    ids = labelled(*map(str, range(1000)))
    message = refusal(refuse_ids, ids)
    assert message.startswith(
        "x.tsv: 1,000 different labels, given 1,000 times in all, such as '0', '1', '2', ...: that"
    )
    assert message.endswith("with --target. If a cell holds several labels, set data.separator.")
    refuse_ids(2 * ids, Path("x.tsv"), None)
    assert refusal(refuse_ids, [*ids, *ids[:999]], ";").endswith("with --target.")


def test_several_labels_are_counted_one_by_one():
    examples = labelled("a;b", "a;c", "b;c", "a;b;c", "c", "a")
    refuse_ids(examples, Path("x.tsv"), ";")
    assert "6 different labels, given 6 times" in refusal(refuse_ids, examples)


def test_many_tags_of_few_papers_are_no_ids():
    """Each of 60 tags is on some eight of 100 papers, though there are fewer than two a tag."""
    tags = [f"tag {number}" for number in range(60)]
    papers = labelled(*(";".join(tags[(7 * n + k) % 60] for k in range(5)) for n in range(100)))
    refuse_ids(papers, Path("x.tsv"), ";")
    (doubt,) = doubts_about(papers, ";")
    assert doubt.startswith("60 labels have fewer than 10 examples")


def test_labels_like_ids_that_were_asked_for_are_a_doubt():
    ids = labelled(*map(str, range(30)))
    refuse_useless(ids, Path("x.tsv"), None)
    assert doubts_about(ids, None) == [
        "30 different labels, given 30 times in all, such as '0', '1', '2', ...: that looks like "
        "an id or free text. If so, name another column with --target."
    ]


def test_good_labels_leave_no_doubt():
    assert doubts_about(labelled(*10 * ["a", "b"]), None) == []
    assert doubts_about(labelled(*190 * ["a"], *10 * ["b"]), None) == []


def test_labels_with_few_examples_are_named_the_rarest_first():
    assert doubts_about(labelled(*10 * "ab", *9 * "c"), None) == [
        "1 label has fewer than 10 examples ('c': 9): too few to learn from, so look at the scores "
        "of each label."
    ]
    (doubt,) = doubts_about(labelled(*10 * "a", *"bbbbcccdde"), None)
    assert doubt.startswith("4 labels have") and "('e': 1, 'd': 2, 'c': 3, ...)" in doubt


def test_labels_that_differ_only_in_capitals_or_blanks_are_named():
    (doubt,) = doubts_about(labelled(*10 * ["Sci Fi", "sci  fi", "SciFi", "x"]), None)
    assert "count as different ones: 'Sci Fi' and 'sci  fi' and 'SciFi'. Write them" in doubt


def test_a_label_that_nearly_all_rows_have_is_named():
    (doubt,) = doubts_about(labelled(*240 * ["a"], *10 * ["b"]), None)
    assert doubt.startswith("240 of 250 rows have the label 'a': who always says so")


def test_cells_that_hold_several_labels_are_talked_about_unless_a_mark_is_named():
    cells = ["billing,urgent", "billing,legal", "legal, urgent", "billing,legal,urgent"] * 10
    (doubt,) = doubts_about(labelled(*cells, *["billing"] * 20), None)
    assert "'billing,urgent'" in doubt and doubt.endswith("--set data.separator=','.")
    assert doubts_about(labelled(*cells, *["billing"] * 20), ",") == []
    names = ["Paris, Texas", "London, Ontario", "Rome, Georgia"] * 10
    assert doubts_about(labelled(*names), None) == [], "no part comes again in another"
