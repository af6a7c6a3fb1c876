"""The mistakes that Python's `re` finds in a pattern, in sentences that say what to write."""

import re


def in_words(message: str) -> str:
    """The sentence for one of `re`'s messages; a general one for a message that this table has not met."""
    for told, sentence in _SENTENCES:
        found = told.match(message)
        if found:
            return sentence.format(*found.groups())
    return "it cannot be read; put a `\\` before a sign that is meant as it stands"


def _table(*rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(told), sentence) for told, sentence in rows)


_SENTENCES = _table(
    (r"missing \), unterminated comment", "this comment is never closed; add `)`"),
    (r"missing \), unterminated", "this `(` is never closed; add `)`, or write `\\(` for the sign itself"),
    (r"unbalanced parenthesis", "this `)` closes nothing; write `\\)` for the sign itself"),
    (r"unterminated character set", "this `[` is never closed; add `]`, or write `\\[` for the sign itself"),
    (
        r"nothing to repeat",
        "there is nothing before this sign to repeat; write `\\` before it for the sign itself",
    ),
    (r"multiple repeat", "two repeat signs follow each other; keep one"),
    (
        r"min repeat greater than max repeat",
        "the first number of `{{…}}` is greater than the second; swap them",
    ),
    (r"the repetition number is too large", "the number in `{{…}}` is too large"),
    (r"bad character range (.+)", "`{0}` is no range; put the smaller sign first, or write `\\-` for a dash"),
    (r"bad escape \(end of pattern\)", "it ends in a single `\\`; write `\\\\` for a backslash"),
    (r"bad escape (.+)", "`{0}` means nothing here; leave out the `\\`, or write `\\\\` for a backslash"),
    (r"incomplete escape (.+)", "`{0}` needs more digits"),
    (r"octal escape value (.+) outside.*", "`{0}` is too large a number for a character"),
    (r"undefined character name (.+)", "no character is called {0}"),
    (r"missing character name", "`\\N{{…}}` needs the name of a character"),
    (r"missing \{", "`\\N` needs a name in braces, like `\\N{{DASH}}`"),
    (r"invalid group reference (\d+)", "there is no group {0} to refer to; put it in round brackets first"),
    (r"unknown group name (.+)", "no group before this is called {0}"),
    (r"redefinition of group name (.+) as", "two groups are called {0}; rename one"),
    (
        r"bad character in group name (.+)",
        "{0} cannot name a group; use letters, digits and `_`, a letter first",
    ),
    (r"missing group name", "this group needs a name, like `(?P<name>…)`"),
    (r"bad group number", "groups are counted from 1"),
    (r"missing >, unterminated name", "the group's name is never closed; add `>`"),
    (r"missing <", "a named group is written `(?P<name>…)`"),
    (r"cannot refer to an open group", "a group cannot refer to itself"),
    (
        r"cannot refer to group defined in the same lookbehind.*",
        "a look-behind cannot refer to a group inside it",
    ),
    (
        r"look-behind requires fixed-width pattern",
        "what `(?<=…)` or `(?<!…)` looks for must have one fixed length",
    ),
    (r"global flags not at the start.*", "flags like `(?i)` stand at the very beginning, or in `flags:`"),
    (r"unexpected end of pattern", "it ends in the middle of `(?…`"),
    (r"unknown extension (.+)", "`({0}` is no kind of group; `(?:…)` groups without remembering"),
    (r"conditional backref with more than two branches", "`(?(1)…|…)` takes two choices at most"),
    (
        r"unknown flag|missing flag|missing -, : or \)|missing :",
        "flags are the letters `i`, `m`, `s`, `x`, as in `(?i:…)`",
    ),
    (r"bad inline flags.*", "these flags cannot stand together here; use `flags:`"),
    (r"too many groups", "it has too many groups; write `(?:…)` where nothing is remembered"),
)
