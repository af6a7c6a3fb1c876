"""Globs over repository paths."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulebook.languages.globs import glob_covers, glob_matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/d/a.py", False),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/d/a.py", True),
        ("src/**", "src/d/a.py", True),
        ("src/**", "src", True),
        ("src/", "src/a", True),
        ("src/**", "srcs/a", False),
        ("src/**/x", "src/x", True),
        ("src/**/x", "src/a/b/x", True),
        ("src/**/x", "src/a/b/y", False),
        ("**", "a/b", True),
        ("*", ".env", True),
        ("**/*", "a/.hidden/b", True),
        (".git*", ".gitignore", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a?c", "ac", False),
        ("[id].tsx", "[id].tsx", True),
        ("[id].tsx", "i.tsx", False),
        ("*a*b*", "xaxbx", True),
        ("*a*b*", "xbxax", False),
        ("a**b", "axxb", True),
        ("a**b", "a/b", False),
        ("./src/a", "src/a", True),
        ("SRC/a", "src/a", False),
        ("a", "a\n", False),
        ("*", "a\nb", True),
        ("**/a/**/b/**", "x/a/a/y/b", True),
        ("", "a", False),
    ],
)
def test_matches(pattern: str, path: str, matches: bool) -> None:
    assert glob_matches(pattern, path) is matches


@given(st.text("a/.*?", max_size=12))
def test_a_path_matches_itself_and_everything_matches_two_stars(path: str) -> None:
    assert glob_matches("**", path)
    if "*" not in path and "?" not in path and not path.endswith("/") and not path.startswith("./"):
        assert glob_matches(path, path)


def test_no_path_takes_long() -> None:
    began = time.process_time()
    assert not glob_matches("*a" * 50 + "b", "a" * 4000)
    assert not glob_matches("**/a/" * 30 + "b", "a/" * 2000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "path", "covers"),
    [
        ("tests", "tests", True),
        ("tests", "tests/deep/t.py", True),
        ("./tests", "tests/t.py", True),
        ("tests", "tests.py", False),
        ("tests", "src/tests/t.py", False),
        ("src/a", "src/a/b", True),
        ("*", "src/a", False),
        ("te?ts", "tests/t.py", False),
        ("tests/*", "tests/deep/t.py", False),
        ("tests/**", "tests/deep/t.py", True),
    ],
)
def test_a_plain_name_covers_what_lies_below_it(pattern: str, path: str, covers: bool) -> None:
    assert glob_covers(pattern, path) is covers
