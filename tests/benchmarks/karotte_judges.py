"""The yardstick that is karotte 3.0.100: its loader, and six judges joined with `&`, over a folder of transcripts.

    PYTHON tests/benchmarks/karotte_judges.py FOLDER

PYTHON is that of an environment with karotte, which needs Python 3.12: `python3.12 -m venv K; K/bin/pip install
karotte==3.0.100`. Five of the judges are its documented way of writing one: a subclass of Judge.
"""

import re
import sys
from functools import reduce
from operator import and_
from pathlib import Path

from karotte.judges import Judge, RegexJudge
from karotte.schemas import Scoring
from karotte.schemas.transcript import TokenUsageEvent, Transcript


def calls(transcript: Transcript) -> list[str]:
    return [call.function.name for m in transcript.messages if m.tool_calls for call in m.tool_calls]


def result(holds: bool) -> Scoring:
    return Scoring(float(holds), {}, holds)


class NoBrowser(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        return result("browser" not in calls(transcript))


class InOrder(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        called = iter(calls(transcript))
        return result(all(name in called for name in ("read_file", "write_file", "run_tests")))


class FinalSays(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        said = [m.content for m in transcript.messages if m.role == "assistant" and m.content]
        return result("All tests pass" in said[-1])


class Short(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        return result(sum(m.role == "assistant" for m in transcript.messages) <= 100)


class Cheap(Judge):
    def evaluate(self, transcript: Transcript) -> Scoring:
        spent = [event for event in transcript.events if isinstance(event, TokenUsageEvent)]
        into, out = sum(e.input_tokens for e in spent), sum(e.output_tokens for e in spent)
        return result(into * 3e-06 + out * 15e-06 <= 1.0)


def main() -> None:
    released = RegexJudge([re.compile(r"release v(\d+)\.(\d+)\.(\d+)")])
    judge = reduce(and_, (NoBrowser(), InOrder(), FinalSays(), released, Short(), Cheap()))
    paths = sorted(Path(sys.argv[1]).iterdir())
    scorings = [judge.evaluate(Transcript.model_validate_json(path.read_bytes())) for path in paths]
    print(sum(scoring.continue_task for scoring in scorings), "of", len(scorings), "pass")


main()
