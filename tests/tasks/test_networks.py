"""Every network that `transduce` can be told to use trains, answers, shows itself and is honest."""

import pytest

import regard

WORDS = [f"{a}{b}{c}" for a in "abcdef" for b in "aeiou" for c in "xyz"]
NETWORKS = {
    "Sutskever": dict(kind="rnn", cell="lstm", attention="none", reverse_source=True),
    "Bahdanau": dict(kind="rnn", attention="additive"),
    "Luong, dot": dict(kind="rnn", attention="dot", input_feeding=False),
    "Luong, local-p": dict(kind="rnn", attention="general", scope="local-p"),
    "recurrent, copying": dict(kind="rnn", cell="rnn", attention="concat", copying=True),
    "Transformer, copying": dict(copying=True, encoder_layers=1, decoder_layers=1),
}


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in WORDS), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_trains_answers_shows_itself_and_is_honest(pairs, tmp_path, name):
    model = {"width": 16, **NETWORKS[name]}
    run = regard.train("transduce", pairs, out=tmp_path / "run", train={"steps": 4}, model=model)
    again = regard.load(run.folder)
    assert again.recipe.model == run.recipe.model and again.recipe.model.copying == ("copy" in name)
    assert again.predict(WORDS[:9]) == run.predict(WORDS[:9])
    shown = run.look("axe").maps[-1]
    assert (run.folder / "attention.png").exists() and shown.columns == ("a", "x", "e")
    assert (shown.name == "influence") == (name == "Sutskever"), "which has no attention"
    assert run.influence("axe").maps[0].rows == shown.rows
    report = run.check(cases=10)
    assert report.passed, report.as_json()


def test_a_recurrent_network_is_chosen_to_fit_its_attention(pairs):
    def chosen(**model):
        from regard.tasks.recipe import make_recipe

        tree = {"model": {"kind": "rnn", **model}}
        recipe, reasons = make_recipe("transduce", [pairs], tree=tree)
        return recipe.model, dict(reasons)["model"], recipe.train.optimizer

    model, said, optimizer = chosen()
    assert model.bidirectional and model.attention == "additive" and optimizer == "adamw"
    assert said.startswith(f"GRU, 1 of width {model.width} on each side, additive attention")
    assert not chosen(attention="dot")[0].bidirectional
    assert "no attention" in chosen(attention="none")[1]


def test_where_tokens_are_copied_both_sides_have_the_same(tmp_path):
    from regard.tasks.recipe import make_recipe

    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word[0].upper()} B C\n" for word in WORDS), encoding="utf-8")
    apart, _ = make_recipe("transduce", [path])
    together, reasons = make_recipe("transduce", [path], ["model.copying=true"])
    assert apart.target is not None and together.target is None
    assert "for both sides" in dict(reasons)["tokens"]
