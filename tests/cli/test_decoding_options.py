import click
import pytest
from click.testing import CliRunner

from regard.cli.decoding import decoding_options, given
from regard.config import DecodeSettings


@click.command()
@decoding_options
def write(**decoding):
    click.echo(repr(DecodeSettings(**given(decoding)).model_dump(exclude_unset=True)))


def test_every_way_to_decode_is_an_option_but_those_of_single_commands():
    options = {option.name for option in write.params}
    assert options == DecodeSettings.model_fields.keys() - {"n", "max_length"}


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        ([], {}),
        (["--temperature", "0.8", "--typical-p", "0.9"], {"temperature": 0.8, "typical_p": 0.9}),
        (["--repetition-penalty", "1.2"], {"repetition_penalty": 1.2}),
        (["--frequency-penalty", "-0.5"], {"frequency_penalty": -0.5}),
        (["--temperature", "0", "--seed", "0"], {"temperature": 0.0, "seed": 0}),
        (["--stop", "Q:"], {"stop": ("Q:",)}),
        (["--stop", "Q:", "--stop", " "], {"stop": ("Q:", " ")}),
    ],
)
def test_only_what_was_asked_for_is_given_on(args, asked):
    done = CliRunner().invoke(write, args)
    assert done.exit_code == 0 and done.output.strip() == repr(asked)
