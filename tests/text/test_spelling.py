"""How words are spelled, as numbers."""

from regard.text.spelling import LONGEST, LOOKED_AT, SHORTEST, parts_of


def test_a_word_is_told_by_its_runs_of_letters_wherever_it_is_met():
    assert parts_of("cat", 10**6) == parts_of("cat", 10**6)
    assert len(parts_of("cat", 10**6)) == 6 and len(parts_of("a", 10**6)) == 1
    assert all(1 <= part <= 7 for part in parts_of("attention", 7))
    assert parts_of("x" * 10**6, 99) == parts_of("x" * LOOKED_AT, 99), "no word is that long"
    assert parts_of("", 99) == (), "nothing has no letters"


def test_every_run_has_a_number_and_words_that_share_runs_share_numbers():
    marked, many = "<running>", 10**9
    runs = {marked[i:j] for i in range(9) for j in range(i + SHORTEST, min(9, i + LONGEST) + 1)}
    assert len(parts_of("running", many)) == len(runs)
    assert len({*parts_of("running", many)} & {*parts_of("gunning", many)}) == sum(
        run in "<gunning>" for run in runs
    )
    assert not {*parts_of("running", many)} & {*parts_of("swim", many)}
