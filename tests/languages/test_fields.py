"""Amounts and paths as authors write them."""

import pytest

from rulebook.languages.faults import LanguageError
from rulebook.languages.fields import read_duration, read_repository_path, read_size, shell_signs


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("15m", 900), ("2h", 7200), ("1.5h", 5400), ("0.2s", 0.2), ("10 s", 10)]
)
def test_times(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "s", "0s", "-1s", "1e3s", "1m30s", "5 minutes", "1d", "30S", "nan", "٣s", " 1s"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read_duration(text)
    assert [fault.code for fault in caught.value.faults] == ["RB214"]


@pytest.mark.parametrize(
    ("text", "size"), [("512 KiB", 524288), ("1 MiB", 1048576), ("1.5 KiB", 1536), ("10 B", 10), ("2GiB", 2**31)]
)
def test_sizes(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "512", "1 MB", "1 kib", "0.5 B", "-1 B", "1 KiB KiB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read_size(text)
    assert [fault.code for fault in caught.value.faults] == ["RB214"]


def test_a_bare_number_shows_both_readings() -> None:
    with pytest.raises(LanguageError) as caught:
        read_size("512")
    assert caught.value.faults[0].words["example"] == "`512 B` for bytes or `512 KiB` for 1024 times that"


@pytest.mark.parametrize(
    ("text", "mended"), [("./src/a", "src/a"), ("src//a", "src/a"), ("src/a/", "src/a"), ("../a", None), ("/a", None)]
)
def test_a_path_that_only_looks_wrong_is_mended(text: str, mended: str | None) -> None:
    with pytest.raises(LanguageError) as caught:
        read_repository_path(text)
    assert caught.value.faults[0].mended == mended
    assert caught.value.faults[0].safe is (mended is not None)


@pytest.mark.parametrize(
    ("argv", "signs"),
    [
        (["make", "&&", "x"], [(1, "&&")]),
        (["a", "|", "b", ">", "c", ";"], [(1, "|"), (3, ">"), (5, ";")]),
        (["ls", "*.py", "src/*", "a.*b"], [(1, "*"), (2, "*")]),
        (["echo", "$HOME", "${X}", "$(id)", "cost: $5", "`id`"], [(1, "$"), (2, "$"), (3, "$"), (5, "`")]),
        (["bash", "-lc", "a && b | c"], []),
        (["grep", "a|b", "x"], []),
    ],
)
def test_signs_of_a_shell(argv: list[str], signs: list[tuple[int, str]]) -> None:
    assert list(shell_signs(argv)) == signs
