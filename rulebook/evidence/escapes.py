"""The arguments of a call as the tool understood them, and otherwise as they were written."""

import re

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def unescaped(arguments: str) -> str:
    r"""JSON text in which `\u0072m` and `\/` are `rm` and `/`, so that nothing hides from a search for it.

    The escapes that JSON needs (quotation mark, backslash, control characters) stay, as does text that is no object.
    """
    if "\\" not in arguments or not arguments.lstrip().startswith("{"):
        return arguments
    text = _ESCAPE.sub(_character, arguments)
    # the two halves of a character beyond the 16-bit ones become it
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(escape: re.Match[str]) -> str:
    if escape[2] is not None:
        return "/" if escape[2] == "/" else escape[0]
    character = chr(int(escape[1], 16))
    return escape[0] if character < " " or character in '"\\' else character
