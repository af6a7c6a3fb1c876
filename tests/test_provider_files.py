"""`rulebook.toml`: what it says, which model a name means in it, and what is said of every mistake."""

import re
from pathlib import Path

import pytest

from rulebook.errors import UsageError
from rulebook.evidence.verdict import verdict_of
from rulebook.model_port import ModelReply, ModelRequest
from rulebook.services.files import MachineFiles
from rulebook.services.models import MachineModels
from rulebook.spec.provider_files import config_files, read_providers
from rulebook.spec.providers import OPENAI, Price, Provider, Providers

FILES = MachineFiles()

WHOLE = """\
[models]
model = "judge"
provider = "local"
concurrency = 4
timeout = "2m"
max_calls = 10
max_cost = "5 USD"
cache = false

[[providers]]
name = "local"
kind = "openai-compatible"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "LOCAL_KEY"
models = {judge = "qwen3-32b"}
prices = {qwen3-32b = {input = 0.5, output = 2}}
currency = "EUR"

[[providers]]
name = "played"
kind = "scripted"
answers = "answers/judge.toml"
"""


def read(tmp_path: Path, text: str) -> Providers:
    (tmp_path / "rulebook.toml").write_text(text, encoding="utf-8")
    return read_providers([str(tmp_path / "rulebook.toml")], FILES)


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    local = Provider(
        "local",
        "openai-compatible",
        "http://127.0.0.1:8000/v1",
        "LOCAL_KEY",
        {"judge": "qwen3-32b"},
        {"qwen3-32b": Price(0.5, 2.0)},
        "EUR",
    )
    played = Provider("played", "scripted", answers=str(tmp_path / "answers/judge.toml"))
    assert read(tmp_path, WHOLE) == Providers(
        {"local": local, "played": played}, "judge", "local", 4, 120.0, 10, 5.0, "USD", False
    )


def test_the_documents_configuration_and_answers_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent.parent / "docs" / "judge-models.md").read_text(encoding="utf-8")
    config, answers = re.findall(r"```toml\n(.*?)```", page, re.S)
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path))
    (tmp_path / "answers.toml").write_text(answers, encoding="utf-8")
    assert read(tmp_path, config).by_name.keys() == {"local", "played"}
    played = MachineModels(str(tmp_path), FILES)
    texts = ("It names the root cause.", "It proposes a fix.", "Anything.")
    config = config.replace('model = "judge" ', 'model = "played/any" ')
    (tmp_path / "rulebook.toml").write_text(config, encoding="utf-8")
    found = played.ask([ModelRequest("", text) for text in texts])
    assert [verdict_of(each).met if isinstance(each, ModelReply) else each.reason for each in found] == [
        True,
        False,
        "the endpoint is down",
    ]


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Providers()


WRONG = {
    "model = 1": "line 1: I don't know `model` in the file.",
    "[models]\nmodel = 1": "line 2: `model` must be text in quotes.",
    '[models]\n\nmodel = ""': "line 3: `model` is empty.",
    "[models]\nconcurrency = 0": "line 2: `concurrency` must be a whole number from 1 to 1,000,000.",
    "[models]\nconcurrency = true": "line 2: `concurrency` must be a whole number from 1 to 1,000,000.",
    '[models]\ntimeout = "2"': "line 2: `timeout` must be a time such as `120s`, a day at most.",
    '[models]\ntimeout = "86401s"': "line 2: `timeout` must be a time such as `120s`, a day at most.",
    '[models]\nmax_cost = "1000000000 USD"': "line 2: `max_cost` must be an amount such as `5 USD`.",
    '[models]\nmodel = "a\\nb"': "line 2: `model` holds a sign that cannot be printed.",
    '[models]\n"größe" = 1': "line 2: I don't know `größe` in `[models]`.",
    '[models]\nmax_calls = ' + "9" * 5000: "holds a number of more digits than can be read.",
    '[[providers]]\nname = "a\\u001b[31m"\nbase_url = "http://a"': "line 2: `name` holds a sign that cannot be printed.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\napi_key = "sk-0"': "line 4: `api_key`: a key does not belong into a file. Write `api_key_env = \"LOCAL_KEY\"`, the name of the variable that holds it.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\napi_key_env = "sk-0123456789"': "line 4: `api_key_env` is the name of the variable that holds the key, such as `LOCAL_KEY`: it is no name of a variable.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\napi_key_env = "gsk_abcdefghijklmnopq0"': "line 4: `api_key_env` is the name of the variable that holds the key, such as `LOCAL_KEY`: it looks like the key itself.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\nanswers = "a.toml"': "line 4: `answers` has no effect in a provider of kind `openai-compatible`.",
    '[[providers]]\nname = "a"\nkind = "scripted"\nprices = {}': "line 4: `prices` has no effect in a provider of kind `scripted`.",
    '[[providers]]\nname = "a"\nbase_url = "http://u:secret@a/v1"': "line 3: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it holds a name or a password",
    '[[providers]]\nname = "a"\nbase_url = "http://a/v1?key=secret"': "line 3: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it goes on behind its path",
    '[[providers]]\nname = "a"\nbase_url = "http://a b/v1"': "line 3: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it holds a blank",
    '[[providers]]\nname = "a"\nbase_url = "http://a:99999/v1"': "line 3: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it is no address.",
    '[[providers]]\nname = "a"\nbase_url = "http://[::1/v1"': "line 3: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it is no address.",
    '[models]\nmax_cost = "5"': "line 2: `max_cost` must be an amount such as `5 USD`.",
    '[models]\ncache = "no"': "line 2: `cache` must be `true` or `false`.",
    "models = 1": "line 1: `models` must be a table, `[models]`.",
    "providers = {}": "line 1: `providers` must be a list of tables, `[[providers]]`.",
    "providers = [1]": "line 1: `providers` must be a list of tables, `[[providers]]`.",
    "[models\n": "line 1: this is not TOML: expected ']' at the end of a table declaration.",
    'a = 1\n[models]\nmodel = "x': "line 3: this is not TOML",
    '[[providers]]\nbase_url = "http://a"': "line 1: a provider needs a `name`, such as `local`.",
    '[[providers]]\nname = "a/b"': "line 2: a provider's `name` has no `/`, such as `local`.",
    '[[providers]]\nname = "a"\nkind = "openai"': "line 3: `openai` isn't one of the choices for `kind`: `openai-compatible`, `scripted`.",
    '[[providers]]\nname = "a"': "line 1: the provider `a` needs a `base_url` such as `http://127.0.0.1:8000/v1`: it is missing.",
    '[[providers]]\nname = "a"\nbase_url = "file:///etc"': "line 3: the provider `a` needs a `base_url`",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\n[[providers]]\nname = "a"\nbase_url = "http://b"': "line 5: two providers are called `a`.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\ncurrency = "usd"': "line 4: `currency` must be three capital letters such as `USD`.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\nmodels = {x = 1}': "line 4: `models` gives each name the model's own: `{judge = \"qwen3-32b\"}`.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\n[providers.prices]\nm = {input = 1}': "line 4: the price of `m` is `{input = 0.1, output = 0.4}`, for a million tokens.",
    '[[providers]]\nname = "a"\nbase_url = "http://a"\nprices = {m = {input = -1, output = 1}}': "line 4: the price of `m`",
    '[[providers]]\nname = "a"\nbase_ulr = "http://a"': "line 3: I don't know `base_ulr` in a provider. Did you mean `base_url`?",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=[repr(text) for text in WRONG])
def test_a_mistake_is_said_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as wrong:
        read(tmp_path, text)
    assert str(wrong.value).startswith(f"`{tmp_path}/rulebook.toml` {WRONG[text]}")


@pytest.mark.parametrize(
    ("raw", "told"), [(b"\xff", "not saved as UTF-8"), (b"#" * 1_100_000, "larger than 1 MiB"), (b"a=" + b"[" * 10_000, "nested too deep")], ids=range(3)
)
def test_what_cannot_be_read_at_all(tmp_path: Path, raw: bytes, told: str) -> None:
    (tmp_path / "rulebook.toml").write_bytes(raw)
    with pytest.raises(UsageError, match=told):
        read_providers([str(tmp_path / "rulebook.toml")], FILES)


def test_no_message_repeats_what_may_be_a_key(tmp_path: Path) -> None:
    for line in ('api_key = "sk-0123secret"', 'api_key_env = "sk-0123secret"', 'base_url = "http://u:sk-0123secret@a"'):
        with pytest.raises(UsageError) as wrong:
            read(tmp_path, f'[[providers]]\nname = "a"\n{line}\n')
        assert "secret" not in str(wrong.value)


def test_names_in_any_script_and_a_mark_at_the_files_beginning(tmp_path: Path) -> None:
    text = '\ufeff[models]\nmodel = "größe/模型"\n[[providers]]\nname = "größe"\nbase_url = "http://a"\nmodels = {"模型" = "x-1"}\n'
    chosen = read(tmp_path, text).chosen(None, None, None)
    assert (chosen.provider.name, chosen.model) == ("größe", "x-1")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "MY_TEAMS_KEY_FOR_THE_JUDGE_2", "my_team_key_for_the_judge", "_k", "Key1", "OpenAI_Api_Key_For_Judge_2", "abcdefghijklmn0"])
def test_a_variables_name(tmp_path: Path, name: str) -> None:
    text = f'[[providers]]\nname = "a"\nbase_url = "http://a"\napi_key_env = "{name}"\n'
    assert read(tmp_path, text).by_name["a"].api_key_env == name


def test_the_projects_file_goes_before_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    users, rules = tmp_path / "config" / "rulebook", tmp_path / "project" / "deep" / "rules"
    users.mkdir(parents=True)
    rules.mkdir(parents=True)
    (users / "rulebook.toml").write_text(
        '[models]\nmodel = "mine"\nprovider = "a"\n[[providers]]\nname = "a"\nbase_url = "http://mine"\n'
    )
    assert read_providers(config_files(str(rules), FILES), FILES).model == "mine"
    (tmp_path / "project" / "rulebook.toml").write_text(
        '[models]\nmodel = "ours"\n[[providers]]\nname = "a"\nbase_url = "http://ours"\n'
    )
    found = read_providers(config_files(str(rules), FILES), FILES)
    assert (found.model, found.provider, found.by_name["a"].base_url) == ("ours", "a", "http://ours")


def names(*providers: Provider, model: str | None = None, provider: str | None = None) -> Providers:
    return Providers({each.name: each for each in providers}, model, provider)


A = Provider("a", base_url="http://a", aliases={"judge": "a-1", "both": "a-2"}, api_key_env="A")
B = Provider("b", base_url="http://b", aliases={"fast": "b-1", "both": "b-2"})


@pytest.mark.parametrize(
    ("providers", "wanted", "provider", "model"),
    [
        (names(A, B), "a/judge", "a", "a-1"),
        (names(A, B), "b/anything/else", "b", "anything/else"),
        (names(A, B), "judge", "a", "a-1"),
        (names(A, B), "fast", "b", "b-1"),
        (names(A, B, provider="a"), "both", "a", "a-2"),
        (names(A, B, provider="b"), "both", "b", "b-2"),
        (names(A, B, provider="a"), "unheard-of", "a", "unheard-of"),
        (names(A), "unheard-of", "a", "unheard-of"),
        (names(A), "org/unheard-of", "a", "org/unheard-of"),
        (names(A, B, model="b/fast"), None, "b", "b-1"),
        (names(), "openai/gpt-5", "openai", "gpt-5"),
        (names(A, provider="openai"), "gpt-5", "openai", "gpt-5"),
        (names(Provider("openai", base_url="http://proxy")), "openai/gpt-5", "openai", "gpt-5"),
    ],
    ids=range(13),
)
def test_which_model_a_name_means(providers: Providers, wanted: str | None, provider: str, model: str) -> None:
    chosen = providers.chosen(wanted, None, None)
    assert (chosen.provider.name, chosen.model) == (provider, model)


def test_a_configured_provider_replaces_the_one_that_is_known_anyway() -> None:
    proxy = Provider("openai", base_url="http://proxy")
    assert names(proxy).chosen("openai/gpt-5", None, None).provider == proxy
    assert names().chosen("openai/gpt-5", None, None).provider == OPENAI


def test_a_rules_own_key_replaces_the_providers() -> None:
    assert names(A).chosen("a/judge", None, "OTHER").provider.api_key_env == "OTHER"


def test_a_rules_own_endpoint_needs_no_provider() -> None:
    chosen = names(A).chosen("judge", "http://own", None)
    assert (chosen.model, chosen.provider.base_url, chosen.provider.api_key_env) == ("judge", "http://own", None)


@pytest.mark.parametrize(
    ("providers", "wanted", "told"),
    [
        (names(A), None, "no model is named. Write `model:`"),
        (names(A, B), "both", "several providers have a model `both`. Say which: `a/both`, `b/both`."),
        (names(A, B), "unheard-of", "nothing says which provider has the model `unheard-of`. Write it like"),
        (names(), "judge", "Write it like `openai/judge`."),
        (names(A, provider="c"), "judge", "`rulebook.toml` has no provider called `c`."),
    ],
    ids=range(5),
)
def test_what_a_name_cannot_mean(providers: Providers, wanted: str | None, told: str) -> None:
    with pytest.raises(UsageError) as wrong:
        providers.chosen(wanted, None, None)
    assert told in str(wrong.value)
