"""`regard chat`: what is remembered, what is shown, and what can be taken back."""

import io
import json

import pytest
from click.testing import CliRunner

import regard
from regard.cli.chat import Talk, chat, messages, typed, wishes
from regard.errors import ConfigError, TextError
from regard.run import Chat, Run, train

TINY = {"width": 16, "encoder_layers": 1, "decoder_layers": 1, "max_length": 128}
ANSWERS = {"hi": "hello", "how are you": "fine thanks", "bye": "see you"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run of conversations, and one of pairs."""
    home = tmp_path_factory.mktemp("home")
    talk, pairs = home / "talk.jsonl", home / "pairs.tsv"
    rows = [[a, ANSWERS[a], b, f"{ANSWERS[b]} {i}"] for i in range(20) for a in ANSWERS
            for b in ANSWERS]  # fmt: skip
    talk.write_text("".join(json.dumps({"turns": row}) + "\n" for row in rows), encoding="utf-8")
    words = [f"{a}{b}" for a in "abcdefgh" for b in "aeiou"]
    pairs.write_text("".join(f"{w}\t{w[::-1]}\n" for w in words), encoding="utf-8")
    for name, data in (("talk", talk), ("pairs", pairs)):
        given = {"model": TINY, "train": {"steps": 20}, "decode": {"max_length": 12}}
        train("chat", data, out=home / name, **given)
    return home


def asked(run, typing, *options):
    return CliRunner().invoke(chat, [str(run), *options], input=typing, catch_exceptions=False)


def test_a_run_of_conversations_says_so(runs):
    run = Run.load(runs / "talk")
    assert run.recipe.data.turns == "turns" and run.recipe.decode.temperature == 0.7
    assert "hash of the conversation" in run.facts["data"]["split_rule"]
    assert {"distinct2", "perplexity"} <= run.facts["test"]["scores"].keys()


def test_what_was_said_goes_along_as_far_as_in_training(runs):
    talk = Chat(Run.load(runs / "talk"))
    first = talk.say("hi")
    assert first.input == "hi" and talk.turns == ["hi", first.output]
    second = talk.say("how are\nyou")
    assert second.input == f"hi\n{first.output}\nhow are you"
    third = talk.say("bye")
    assert third.input.split("\n") == ["how are you", second.output, "bye"], "history is 3"


def test_what_does_not_fit_is_left_behind_and_never_the_message(runs):
    talk = Chat(Run.load(runs / "talk"))
    longest = talk.run.recipe.model.max_length
    long = "hi " * (longest - 4)
    assert not talk.run.task.fits(f"{long}\n{long}")
    talk.turns = [long, long]
    assert talk.fitting([*talk.turns, "bye"]) in (f"{long}\nbye", "bye")
    with pytest.raises(TextError, match=f"at most {longest}"):
        talk.say(long * 2)
    assert talk.turns == [long, long], "what can not be answered was not said"


def test_pairs_are_answered_one_by_one(runs):
    talk = regard.Chat(regard.load(runs / "pairs"))
    talk.say("ba")
    assert talk.say("ca").input == "ca"


def test_undo_takes_a_message_and_its_answer_back(runs):
    talk = Chat(Run.load(runs / "talk"))
    assert not talk.undo()
    talk.say("hi")
    assert talk.undo() and talk.turns == []


def test_settings_change_how_answers_are_chosen(runs):
    talk = Chat(Run.load(runs / "talk"), temperature=5.0, seed=1)
    several = set()
    for _ in range(5):
        several.add(talk.say("hi").output)
        talk.turns.clear()
        talk.set(temperature=5.0)
    assert len(several) > 1, "each answer draws anew, also after a change"
    before = talk.predictor
    for wrong in ({"temprature": 1}, {"n": 3}, {"network": 1}, {"temperature": -1}):
        with pytest.raises(ConfigError):
            talk.set(**wrong)
    assert talk.predictor is before
    talk.set(temperature=0.0, top_p=None)
    talk.turns.clear()
    one = talk.say("hi").output
    talk.turns.clear()
    assert talk.say("hi").output == one


@pytest.mark.parametrize("early", [{"top_p": 0.8, "temperature": 2.0}, {"top_k": 3}])
@pytest.mark.parametrize("late", [{"temperature": 0}, {"beam": 4}])
def test_the_newest_wish_wins_and_tells_what_it_drops(runs, early, late):
    talk = Chat(Run.load(runs / "talk"), **early)
    dropped = talk.set(**late)
    assert set(dropped) == {*early, "temperature", "top_p"} - {*late}, "the recipe's too"
    settings = talk.predictor.settings
    assert (settings.temperature, settings.top_p, settings.top_k) == (0, None, None)
    assert talk.set(**late) == [], "nothing is left to drop"


def test_sampling_drops_a_beam_and_a_beam_drops_penalties(runs):
    talk = Chat(Run.load(runs / "talk"), beam=4)
    assert talk.set(temperature=0.5) == ["beam"] and talk.predictor.settings.beam == 1
    assert talk.set(repetition_penalty=1.5) == []
    assert talk.set(beam=2) == ["temperature", "top_p", "repetition_penalty"]


def test_wishes_of_one_moment_must_agree(runs):
    talk = Chat(Run.load(runs / "talk"))
    for wrong in ({"temperature": 0, "top_p": 0.5}, {"beam": 2, "temperature": 1.0}, {"self": 1}):
        with pytest.raises(ConfigError):
            talk.set(**wrong)
    assert talk.decoding == {}


def test_none_takes_a_wish_back(runs):
    talk = Chat(Run.load(runs / "talk"), temperature=2.0, top_p=0.8, beam=1, max_length=3)
    talk.set(temperature=None, top_p=None, beam=None, max_length=None)
    usual = talk.run.recipe.decode
    assert talk.predictor.settings.temperature == usual.temperature
    assert talk.predictor.settings.max_length == usual.max_length
    assert talk.predictor.settings.top_p is None
    talk.set(temperature=0)
    talk.set(temperature=1.0)
    assert talk.predictor.settings.top_p is None, "it stays taken back"


def test_wishes_are_read_as_people_write_them():
    both = {"temperature": 0.5, "top_p": 0.9}
    for text in (
        "temperature=0.5 top_p=0.9",
        "temperature = 0.5  top_p =0.9",
        "temperature=0.5, top_p=0.9",
        "temperature 0.5 top_p=0.9",
    ):
        assert wishes(text) == both
    assert wishes("temperature 0.5") == {"temperature": 0.5}
    assert wishes("top_p=none top_k=") == {"top_p": None, "top_k": None}
    assert wishes('stop=["a b=c", "d"] beam=2') == {"stop": ["a b=c", "d"], "beam": 2}
    assert wishes('stop="none"') == {"stop": "none"}
    with pytest.raises(ConfigError, match="/set temperature=0.5") as error:
        wishes("temperature")
    assert "--set" not in str(error.value)


def test_set_says_what_is_dropped_and_goes_on(runs):
    typing = "/set top_p=0.7 temperature=2\n/set temperature=0\n/set top_p\n/set seed=7 beam=3\n"
    told = asked(runs / "talk", typing, "--top-p", "0.8").stderr.splitlines()
    assert "temperature 2.0, top_p 0.7" in told[0]
    assert told[1] == "Dropped: top_p." and "temperature 0.0" in told[2]
    assert "has no value" in told[3] and "beam 3" in told[4] and "seed 7" in told[4]


def test_a_beam_may_be_asked_for_where_the_recipe_samples(runs):
    talk = Chat(Run.load(runs / "talk"), beam=3)
    assert (talk.predictor.settings.beam, talk.predictor.settings.temperature) == (3, 0.0)
    assert talk.say("hi").finished


def test_nobody_is_silent(runs):
    talk = Chat(Run.load(runs / "talk"))
    talk.turns = ["hi", ""]
    with pytest.raises(TextError, match="the message is empty"):
        talk.say(" \n")
    assert talk.fitting([*talk.turns, "bye"]) == "hi\nbye"


def test_equal_seeds_are_equal_conversations(runs):
    said = [asked(runs / "talk", "hi\nbye\n", "--seed", "3").stdout for _ in range(2)]
    assert said[0] == said[1] and said[0].count("\n") == 2


def test_every_message_of_a_pipe_is_answered_by_a_line(runs):
    done = asked(runs / "talk", "hi\n\nhow are \\\nyou\n/undo\n//bye\n/quit\nhi\n", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["message"] for row in rows] == ["hi", "", "how are \nyou", "/bye"]
    assert "the message is empty" in rows[1]["problem"] and rows[1]["output"] == ""
    assert rows[2]["input"] == f"hi\n{rows[0]['output']}\nhow are you"
    assert rows[3]["input"] == f"hi\n{rows[0]['output']}\n/bye", "undone"
    assert done.exit_code == 2 and "Forgotten." in done.stderr


def test_a_blank_line_is_answered_by_one_in_a_pipe_and_not_at_the_keyboard(runs, capsys):
    talk = Talk(Chat(Run.load(runs / "talk")), as_json=False, live=False)
    assert talk.hear(" ") and talk.failed and capsys.readouterr().out == "\n"
    talk = Talk(talk.chat, as_json=False, live=True)
    assert talk.hear(" ") and not talk.failed and capsys.readouterr() == ("", "")


def test_what_can_not_be_answered_has_an_empty_line_and_exit_code_2(runs):
    typing = f"hi\n{'hi ' * 3000}\nbye\n"
    done = asked(runs / "talk", typing)
    lines = done.stdout.split("\n")
    assert done.exit_code == 2 and len(lines) == 4 and lines[1] == ""
    assert "tokens, but this model was trained for at most" in done.stderr
    rows = list(map(json.loads, asked(runs / "talk", typing, "--json").stdout.splitlines()))
    assert [bool(row.get("problem")) for row in rows] == [False, True, False]


def test_a_message_that_is_no_text_is_refused_in_a_sentence(runs):
    done = CliRunner().invoke(chat, [str(runs / "talk")], input=b"\xef\xbb\xbfhi\n\xff\n")
    assert isinstance(done.exception, TextError) and "not UTF-8" in str(done.exception)
    assert done.stdout.count("\n") == 1


def test_commands_help_and_unknown_ones_are_told(runs):
    done = asked(runs / "talk", "/help\n/undoo\n/undo\n/set temperature=0.1\n/set x=1\n/new\n")
    said = done.stderr
    assert "/history" in said and 'Did you mean "/undo"?' in said and "Nothing was said" in said
    assert "temperature 0.1" in said and '"x"' in said and "A new conversation." in said
    assert done.stdout == "" and done.exit_code == 0


def test_history_marks_what_the_model_reads_next(runs, capsys):
    talk = Talk(Chat(Run.load(runs / "talk")), as_json=False, live=False)
    talk.obey("/history")
    talk.chat.turns = ["hi", "hello", "bye", "see you"]
    talk.obey("/history")
    none, *shown = capsys.readouterr().err.splitlines()
    assert none == "Nothing was said yet."
    assert shown == ["  you: hi", "  talk: hello", "* you: bye", "* talk: see you"]


def test_history_marks_no_silence_and_all_that_is_read_around_it(runs, capsys):
    talk = Talk(Chat(Run.load(runs / "talk")), as_json=False, live=False)
    talk.chat.turns = ["hi", "hello", "bye", ""]
    assert talk.chat.fitting([*talk.chat.turns, "?"]) == "hello\nbye\n?"
    talk.obey("/history")
    shown = capsys.readouterr().err.splitlines()
    assert shown == ["  you: hi", "* talk: hello", "* you: bye", "  talk: "]


def test_history_marks_nothing_where_the_message_is_read_alone(runs, capsys):
    talk = Talk(Chat(Run.load(runs / "pairs")), as_json=False, live=False)
    talk.chat.turns = ["b\na", "ab"]
    talk.obey("/history")
    assert "*" not in capsys.readouterr().err


def lines(*rows):
    """As if they were typed, Ctrl-C among them."""
    rest = iter(rows)

    def line(more):
        if (found := next(rest, None)) is KeyboardInterrupt:
            raise KeyboardInterrupt
        return found

    return line


def test_lines_that_belong_together_are_one_message():
    assert list(messages(lines("a", "b\\", "c\\", "d"))) == ["a", "b\nc\nd"]
    assert list(messages(lines('"""', "a", "", "b", '"""', "c"))) == ["a\n\nb", "c"]
    assert list(messages(lines("a\\"))) == ["a\\"], "nothing follows"
    assert list(messages(lines('"""', "a", "b"))) == ["a\nb"], "the end ends it too"


def test_a_block_is_said_as_it_is(runs):
    assert list(messages(lines('"""', "a\\", '"""', "b"))) == ["a\\", "b"]
    typing = "".join(f'"""\n{text}\n"""\n' for text in ("/undo", "//hi", "/undo\nhi", "hi\\"))
    done = asked(runs / "talk", typing, "--json")
    heard = [json.loads(line)["message"] for line in done.stdout.splitlines()]
    assert heard == ["/undo", "//hi", "/undo\nhi", "hi\\"] and "Forgotten" not in done.stderr


def test_an_interrupt_drops_what_a_person_has_half_typed_and_goes_on(capsys):
    stop = KeyboardInterrupt
    typing = lines(stop, "a", "b\\", stop, "c", '"""', "d", stop, "e")
    assert list(messages(typing, live=True)) == ["a", "c", "e"]
    told = capsys.readouterr().err
    assert told.count("dropped") == 3 and "Ctrl-D or /quit leaves" in told
    with pytest.raises(KeyboardInterrupt):
        list(messages(lines("a\\", stop)))


def test_a_person_sees_who_speaks_and_may_stop_an_answer(runs, monkeypatch, capsys):
    talk = Talk(Chat(Run.load(runs / "talk")), as_json=False, live=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    talk.hear("hi")
    assert capsys.readouterr().out.startswith("talk: ")

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(talk.chat.predictor, "tokens_for", interrupted)
    talk.answer("bye")
    assert "Stopped" in capsys.readouterr().err and len(talk.chat.turns) == 2
    talk.live = False
    with pytest.raises(KeyboardInterrupt):
        talk.answer("bye")


def test_an_answer_that_is_cut_is_told(runs, capsys):
    talk = Talk(Chat(Run.load(runs / "talk"), max_length=1), as_json=False, live=False)
    talk.answer("hi")
    assert "cut at its greatest length" in capsys.readouterr().err


def test_the_end_of_typing_ends_the_conversation(monkeypatch, capsys):
    monkeypatch.setattr("builtins.input", lambda prompt: (_ for _ in ()).throw(EOFError))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert typed(False) is None


def test_the_prompt_is_no_part_of_what_is_printed(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"hi\n")))
    assert typed(False) == "hi" and typed(True) is None
    assert capsys.readouterr() == ("", "you:   ... ")
