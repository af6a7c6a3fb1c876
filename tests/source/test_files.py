"""Files that cannot be read, are too large, or are not what their name says."""

import os

import pytest

from rulebook.services.files import MachineFiles
from rulebook.source.files import read_bytes, read_rules, read_text
from rulebook.source.limits import MAX_BYTES, MAX_KEY_CHARACTERS, MAX_LEVELS, MAX_NODES


def said(reading):
    assert reading.document is None
    return [f"{d.code} {d.message}" for d in reading.diagnostics]


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a.YAML", "a.zon"])
def test_endings(tmp_path, name):
    path = tmp_path / name
    path.write_text(".{ .a = 1 }" if name.endswith("zon") else "a: 1\n")
    document = read_rules(str(path), MachineFiles()).document
    assert document.data == {"a": 1}
    assert document.file == str(path)


@pytest.mark.parametrize("name", ["a.json", "a", ".yaml", "a.yaml.bak"])
def test_other_endings(tmp_path, name):
    (tmp_path / name).write_text("a: 1\n")
    assert "ends in `.yaml`, `.yml`, `.zon`" in said(read_rules(str(tmp_path / name), MachineFiles()))[0]


def test_what_is_no_readable_file(tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    (tmp_path / "file").write_text("x")
    for name, reason in {
        "none.yaml": "there is no file of that name",
        "folder.yaml": "it is a folder",
        "pipe.yaml": "",
        "loop.yaml": "its links lead round in a circle",
        "file/x.yaml": "part of the path is a file, not a folder",
        "x\0.yaml": "its name holds a character that no file name can hold",
        "n" * 300 + ".yaml": "its name is too long",
    }.items():
        (message,) = said(read_rules(str(tmp_path / name), MachineFiles()))
        assert message.startswith("RB101 I can't read this file: ")
        assert reason in message


class NoPermission(MachineFiles):
    def read(self, path, limit_bytes=None):
        raise PermissionError(13, f"Permission denied at {limit_bytes}", path)


def test_a_file_that_may_not_be_read():
    (message,) = said(read_rules("a.yaml", NoPermission()))
    assert message == "RB101 I can't read this file: you are not allowed to read it."


def test_the_size_is_looked_at_before_the_content(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xff" * (MAX_BYTES + 1))
    assert said(read_rules(str(path), MachineFiles()))[0].startswith("RB119")
    path.write_bytes(b"# " + b"x" * (MAX_BYTES - 8) + b"\na: 1")
    assert read_rules(str(path), MachineFiles()).document.data == {"a": 1}
    assert said(read_text("é" * (MAX_BYTES // 2 + 1), "a.yaml", "yaml"))[0].startswith("RB119")
    assert said(read_text("é" * (MAX_BYTES // 2 + 1), "a.zon", "zon"))[0].startswith("RB119")


@pytest.mark.parametrize("language", ["yaml", "zon"])
def test_bytes_that_are_not_utf8(language):
    assert said(read_bytes("a: 1\nb: é".encode("latin-1"), "x", language))[0].startswith(
        "RB102 This file isn't saved as UTF-8 (first odd byte on line 2)"
    )
    assert "RB102" in said(read_bytes("a: 1".encode("utf-16"), "x", language))[0]
    assert "it is not text" in said(read_bytes(b"a: \0\xff", "x", language))[0]
    assert "RB102" in said(read_text("a\n\ud800", "x", language))[0]


def test_a_byte_order_mark_is_no_part_of_the_text():
    document = read_bytes(b"\xef\xbb\xbfa: 1\n", "x", "yaml").document
    assert document.text == "a: 1\n"
    assert document.values[("a",)].column == 4


def test_the_limits():
    assert (MAX_BYTES, MAX_NODES, MAX_LEVELS, MAX_KEY_CHARACTERS) == (1024 * 1024, 50_000, 64, 128)


def test_levels():
    deep = MAX_LEVELS - 1
    assert read_text("[" * MAX_LEVELS + "]" * MAX_LEVELS, "x", "yaml").document is not None
    assert read_text("- " * deep + "a: 1", "x", "yaml").document is not None
    assert "levels" in said(read_text("- " * MAX_LEVELS + "a: 1", "x", "yaml"))[0]
    assert "levels" in said(read_text("[" * 10_000, "x", "yaml"))[0]
    assert "levels" in said(read_text("- " * 10_000, "x", "yaml"))[0]
    assert read_text(".{" * MAX_LEVELS + "}" * MAX_LEVELS, "x", "zon").document is not None
    assert "levels" in said(read_text(".{" * (MAX_LEVELS + 1) + "}" * (MAX_LEVELS + 1), "x", "zon"))[0]
    assert "levels" in said(read_text(".{" * 10_000, "x", "zon"))[0]


def test_keys_and_values():
    assert read_text("- a\n" * (MAX_NODES - 1), "x", "yaml").document is not None
    assert "keys and values" in said(read_text("- a\n" * MAX_NODES, "x", "yaml"))[0]
    assert read_text(".{" + "1," * (MAX_NODES - 1) + "}", "x", "zon").document is not None
    assert "keys and values" in said(read_text(".{" + "1," * MAX_NODES + "}", "x", "zon"))[0]


def test_length_of_a_key():
    fits, over = "k" * MAX_KEY_CHARACTERS, "k" * (MAX_KEY_CHARACTERS + 1)
    assert read_text(f"{fits}: 1", "x", "yaml").document is not None
    assert "a key of 129 characters" in said(read_text(f"{over}: 1", "x", "yaml"))[0]
    assert read_text(f".{{ .{fits} = 1 }}", "x", "zon").document is not None
    assert "a key of 129 characters" in said(read_text(f".{{ .{over} = 1 }}", "x", "zon"))[0]


def test_bombs():
    levels = "".join(f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 9)}]\n" for i in range(1, 12))
    assert {d.code for d in read_text("k0: &k0 [x]\n" + levels, "x", "yaml").diagnostics} == {"RB115"}
    merges = "".join(f"m{i}: &m{i}\n  <<: [{', '.join([f'*m{i - 1}'] * 9)}]\n" for i in range(1, 8))
    assert {d.code for d in read_text("m0: &m0 {a: 1}\n" + merges, "x", "yaml").diagnostics} == {"RB115"}
