"""The work of `rulebook calibrate`, apart from its options."""

import os
import shlex
from argparse import Namespace
from collections.abc import Mapping

from rulebook.api.calibrating import Asked, CalibrationRules
from rulebook.cli import output
from rulebook.cli.evaluation_work import Progress
from rulebook.errors import UsageError
from rulebook.report.calibration_text import render_calibration
from rulebook.report.judge_card import judge_card
from rulebook.report.plain_json import canonical
from rulebook.services.output_files import refuse_over, write_text
from rulebook.services.ports import machine_ports
from rulebook.services.rule_files import near_path
from rulebook.spec.judge_cards import MOST_BYTES, is_card


def calibrate(given: Namespace, params: Mapping[str, str]) -> int:
    """Do it, print what was found, write the card, and give the exit status."""
    if not os.path.exists(given.file):
        raise UsageError(f"there is no `{given.file}`.{near_path(given.file)}")
    ports = machine_ports(given.file, given.cache)
    asked = Asked(given.labels, given.scorer, given.mark, given.limit, params)
    rules = CalibrationRules(given.file, asked, ports, allow_python=given.allow_python)
    path = given.output if given.output is not None else rules.card_path()
    refuse_over(path, rules.sources)
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise UsageError(f"there is no folder `{folder}` for the card. Make it first.")
    replaces = _is_ours(path)
    identity = rules.identity()
    for warning in rules.rules.warnings():
        output.say(warning)
    progress = Progress(rules.rules, given.limit)
    try:
        found = rules.run(resume=given.resume, heard=progress.heard)
    except BaseException:
        progress.clear()
        if progress.done:
            output.say(f"{progress.done} rows are done. Go on with: {shlex.join(_again(given))}")
        raise
    progress.clear()
    card = canonical(judge_card(found, rules.subject, identity))
    in_colour = output.stdout_colour(given.color)
    output.put(card if given.format == "json" else render_calibration(found, rules.subject, colour=in_colour))
    if not found.compared:
        output.say("Nothing was measured, so no card was written.")
        return 3
    write_text(path, card, force=replaces)
    output.say(f"Wrote {path}.")
    return 0


def _is_ours(path: str) -> bool:
    """Whether a card stands there, which a new one replaces. Raises UsageError for any other file."""
    if not os.path.exists(path):
        return False
    try:
        with open(path, "rb") as file:
            ours = is_card(file.read(MOST_BYTES))
    except OSError as error:
        raise UsageError(f"I can't read `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None
    if not ours:
        raise UsageError(f"`{path}` is no card and was not touched. Write another name with `--output`.")
    return True


def _again(given: Namespace) -> list[str]:
    """The command that goes on where this one was stopped."""
    words = ["rulebook", "calibrate", given.file, "--labels", given.labels, "--resume"]
    for option in ("scorer", "output", "cache"):
        words += [f"--{option}", getattr(given, option)] if getattr(given, option) is not None else []
    words += [part for word in given.param for part in ("--param", word)]
    words += ["--limit", str(given.limit)] if given.limit else []
    words += ["--mark", repr(given.mark)] if given.mark != 0.5 else []
    return [*words, "--allow-python"] if given.allow_python else words
