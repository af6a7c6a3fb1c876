"""Checking many sessions against one spec: spread over processes, in bounded memory, one failure never the others'."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial

from rulebook.checks import MODEL_KINDS
from rulebook.errors import UnknownFormat, UsageError
from rulebook.expression.nodes import leaves_of
from rulebook.expression.program import folder_of
from rulebook.report.batch import FAULT, Line, line_of
from rulebook.report.eval_report import eval_report
from rulebook.report.judged import Judged
from rulebook.report.plain_json import canonical
from rulebook.report.rewards import REFUSED
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.parallel import cores, in_order
from rulebook.session.checking import Check

_WORTH_A_POOL_BYTES = 96 * 1024 * 1024


class _UnwrittenError(Exception):
    """A report could not be written."""


def check_many(check: Check, sessions: Sequence[str], *, output: str | None, workers: int | None) -> Iterator[Line]:
    """A line for each session, in the order of `sessions`; a file that holds several gives one for each.

    `output` is the folder into which each one's report is written, None: nowhere. `workers` None: as many processes as
    there are processors where the sessions are large or commands are run, else one. Where models may only be asked so
    much, it is always one: several could not keep one count. Whatever becomes of one session
    is told by its line, and the others go on.
    """
    root = _common_folder(sessions)
    if workers is None:
        workers = _worthwhile(check, sessions)
    if workers > 1 and _has_a_budget(check):
        workers = 1
    work = partial(_lines, check, root, output)
    for lines in in_order(work, sessions, min(workers, len(sessions)), partial(_lost, root)):
        yield from lines


def _lines(check: Check, root: str, output: str | None, session: str) -> list[Line]:
    """The lines of one file. Raises nothing."""
    name = _name(session, root)
    lines: list[Line] = []
    try:
        for part, judged in check.each(session):
            label = name if part is None or session.endswith(f"#{part}") else f"{name}#{part}"
            if isinstance(judged, UnknownFormat):
                lines.append(_unread(label, session, judged))
                continue
            report = None if output is None else _write(check, judged, os.path.join(output, name), session, len(lines))
            lines.append(line_of(label, judged, report))
    except UsageError as error:
        lines.append(_unread(name, session, error))
    except _UnwrittenError as error:
        lines.append(Line(name, "fault", FAULT, reason=f"no report: {error}"))
    except Exception as error:
        alone = f"a fault of Rulebook's ({type(error).__name__}): check it alone for a report of the fault"
        lines.append(Line(name, "fault", FAULT, reason=alone))
    return lines


def _unread(label: str, session: str, error: UsageError) -> Line:
    why = str(error).removeprefix(f"`{session}` ").removeprefix(f"I can't read the session `{session}`: ")
    return Line(label, "not read", REFUSED, reason=why)


def _lost(root: str, session: str) -> list[Line]:
    reason = "the process that checked it was ended from outside, twice: is there enough memory?"
    return [Line(_name(session, root), "fault", FAULT, reason=reason)]


def _write(check: Check, judged: Judged, stem: str, session: str, nth: int) -> str:
    """Write a session's report beside the others, under its own name."""
    part = "" if judged.part is None else f"#{nth + 1}-{re.sub('[^A-Za-z0-9._-]', '_', judged.part)[:60]}"
    path = f"{stem}{part}.report.json"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        refuse_over(path, (check.spec_path, session))
        write_text(path, canonical(eval_report(judged)), force=True)
    except UsageError as error:
        raise _UnwrittenError(str(error).removeprefix(f"I can't write `{path}`: ")) from error
    except OSError as error:
        raise _UnwrittenError(f"{(error.strerror or 'the machine refuses').lower()}: `{path}`") from error
    return path


def _name(session: str, root: str) -> str:
    """What a session is called among the others: its path below the folder that all have in common, or its id."""
    path = session if os.path.lexists(session) else session.rpartition("#")[0]
    return os.path.relpath(session, root) if path and os.path.lexists(path) else session


def _common_folder(sessions: Sequence[str]) -> str:
    """The folder below which all of them lie; those named by an id lie in none."""
    paths = [session if os.path.lexists(session) else session.rpartition("#")[0] for session in sessions]
    folders = [os.path.dirname(os.path.abspath(path)) for path in paths if path and os.path.lexists(path)]
    return os.path.commonpath(folders) if folders else os.curdir


def _has_a_budget(check: Check) -> bool:
    """Whether the rules ask a model, and the configuration says how often or for how much that may be."""
    if not any(leaf.check.kind in MODEL_KINDS for leaf in leaves_of(item.node for item in check.program.items)):
        return False
    from rulebook.spec.provider_files import config_files, read_providers  # only rules that ask a model pay for it

    try:
        providers = read_providers(config_files(folder_of(check.spec_path), check.ports.files), check.ports.files)
    except UsageError:
        return False
    return providers.max_calls is not None or providers.max_cost is not None


def _worthwhile(check: Check, sessions: Sequence[str]) -> int:
    """Starting processes costs a tenth of a second: only long work is spread."""
    if check.program.spec.tests and not check.skip_tests:
        return cores()
    size = 0
    for session in sessions:
        size += os.path.getsize(session) if os.path.exists(session) else 0
        if size >= _WORTH_A_POOL_BYTES:
            return cores()
    return 1
