"""A judge: a rule, or a condition over the named rules."""

from rulebook.languages.condition import read_condition
from rulebook.languages.faults import LanguageError, Shown
from rulebook.place import Path
from rulebook.spec.reader import Reader
from rulebook.spec.reading import read_rule
from rulebook.spec.rules import Beside, OfCondition, RuleSpec


def read_judge(reader: Reader, path: Path) -> RuleSpec | None:
    """The judge at `path`; None, with every problem noted, when it is not valid."""
    value = reader.document.at(path)
    if not isinstance(value, str):
        return read_rule(reader, path)
    if value == "always_pass":
        reader.wrong_type(path, "judge", f"a rule, such as `{reader.shown(Shown(True, value))}`")
        return None
    try:
        condition = read_condition(value)
    except LanguageError as error:
        for fault in error.faults:
            reader.add_fault(fault, path)
        return None
    return RuleSpec("judge", reader.document, path, path, Beside(), OfCondition(condition))
