"""Where something stands in a TOML file, whose readers keep no places."""

import re


def read_fault(message: str, text: str) -> tuple[str, int]:
    """What a TOML reader says, and the line it speaks of."""
    found = re.search(r" \(at (?:line (\d+)|end of document).*\)$", message)
    line = int(found[1]) if found and found[1] else text.count("\n") + 1
    what = message[: found.start()] if found else message
    return what[:1].lower() + what[1:], line


def line_of(text: str, table: str, key: str, index: int) -> int:
    """The line of `key` in the table called so, or in the `index`-th one; the table's own line where it is not there.

    A TOML reader keeps no places, so the line is found again by its shape.
    """
    here, seen, start = "", -1, 1
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*([\w.-]+)", line)
        if head:
            here, sub = head[1].split(".")[0], head[1].partition(".")[2].split(".")[0]
            seen += here == table and not sub
            if (here == table and max(seen, 0) == index and not sub) or (not table and here == key):
                start = number
            if here == table and max(seen, 0) == index and sub == key:
                return number
        elif here == table and max(seen, 0) == index and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return number
    return start
