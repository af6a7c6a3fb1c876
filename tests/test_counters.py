"""Work that must not grow with the number of rules: counted, not timed."""

from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from logs import write_log
from msgspec.structs import replace

from rulebook.ports import ByteStream
from rulebook.services.files import MachineFiles
from rulebook.services.ports import machine_ports
from rulebook.session.checking import check_of


class CountingStream:
    """A stream that counts the bytes it hands out."""

    def __init__(self, stream: ByteStream, counts: Counter[str], name: str) -> None:
        self._stream, self._counts, self._name = stream, counts, name

    def read(self, size_bytes: int, /) -> bytes:
        data = self._stream.read(size_bytes)
        self._counts[self._name] += len(data)
        return data


class CountingFiles(MachineFiles):
    """The machine's files, counting what is opened and how many bytes of it are read."""

    def __init__(self) -> None:
        self.opened: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    @contextmanager
    def open(self, path: str):  # type: ignore[no-untyped-def]
        self.opened[Path(path).name] += 1
        with super().open(path) as stream:
            yield CountingStream(stream, self.bytes, Path(path).name)


def rules(count: int) -> str:
    kinds = (
        "event: {{name: tool.call, where: 'seq > {n}'}}",
        "expr: 'turns > {n}'",
        "forbidden_tools: ['tool_{n}']",
        "contains: 'text {n}'",
    )
    checks = "".join(f"  check_{n}: {{{kinds[n % 4].format(n=n)}}}\n" for n in range(count))
    return f"schema: chock.eval\nversion: 1\nname: many\nchecks:\n{checks}"


def test_a_log_is_read_and_folded_once_whatever_the_number_of_checks(tmp_path: Path) -> None:
    events: list[dict[str, object]] = [{"session.start": {"agent_kind": "m", "model_alias": "m", "parent_session": ""}}]
    for number in range(50):
        events.append({"tool.call": {"call_id": f"c{number}", "tool": "read_file", "arguments": "{}"}})
        events.append({"message": {"role": "assistant", "content": [{"text": f"text {number}"}]}})
    events.append({"session.end": {"reason": "finished", "detail": ""}})
    write_log(tmp_path / "log.jsonl", events)
    for count in (4, 1000):
        (tmp_path / "rules.yaml").write_text(rules(count), encoding="utf-8")
        files = CountingFiles()
        ports = replace(machine_ports(), files=files)
        judged = check_of(str(tmp_path / "rules.yaml"), ports).one(str(tmp_path / "log.jsonl"))
        assert len(judged.findings) == count + 1
        assert files.opened["log.jsonl"] == 1
        assert files.bytes["log.jsonl"] == (tmp_path / "log.jsonl").stat().st_size
