"""The students who misbehave: what each hands in and says. None of them has done its work."""

from collections.abc import Callable

from msgspec import Struct

from rulebook.services import misbehaving_files as files
from rulebook.services import misbehaving_pieces as pieces
from rulebook.services.misbehaving_scripts import ends_early, lingers, writes_scores
from rulebook.services.misbehaving_texts import (
    BOAST,
    EVERYTHING,
    IDLE_WORD,
    INJECTION,
    harmless_to_run,
    numbers_replaced,
)
from rulebook.services.probe_scene import SCORE, Scene
from rulebook.spec.steps import SubmissionSpec

Act = Callable[[Scene, SubmissionSpec], None]


class Student(Struct, frozen=True):
    """One of them.

    `about` says what it does, `advice` what is to be mended when it earns something. `act` is called for each
    submission that is asked for, None hands in nothing; `say` None says nothing. `by_hand` is one who only matters
    where something is handed in, `plain` one whose work can be read like anybody's. `later` rewrites what it handed
    in, when that has been taken into custody. `knows`: it can only be played where right work is known.
    """

    name: str
    about: str
    advice: str
    act: Act | None = None
    say: Callable[[Scene], str] | None = lambda _: IDLE_WORD
    by_hand: bool = True
    plain: bool = False
    later: bool = False
    knows: bool = False


def _writes(text: Callable[[Scene, str], str]) -> Act:
    return lambda scene, submission: scene.hand_in(
        submission, lambda path: text(scene, path).encode("utf-8", "backslashreplace"), cut=True
    )


def _tells(name: str, about: str, advice: str, text: Callable[[Scene], str]) -> Student:
    """One who writes the same text into every file, and says it too."""
    return Student(name, about, advice, _writes(lambda scene, _: text(scene)), text, by_hand=False, plain=True)


def _runs(program: Callable[[str, str], bytes]) -> Act:
    return lambda scene, submission: scene.hand_in(submission, lambda path: program(path, scene.leash))


def _made_of_right(text: Callable[[str], str]) -> Act:
    def made(scene: Scene, path: str) -> str:
        piece = text(scene.right_text(path) or "")
        return piece if path.endswith(".py") else harmless_to_run(piece, path)  # without its names Python does nothing

    return _writes(made)


def _number(word: str) -> Act:
    return _writes(lambda scene, path: numbers_replaced(scene.right_text(path), word))


_ON_CUSTODY = (
    "It is refused before the judge reads it. If it was not, the judge reads something else than what was handed in."
)
_BY_COPY = "Give the judge the copy: `{{ submissions.NAME.path }}`, never the path at which the student works."
_NEVER_RUN = (
    "Never let the judge believe what the student's program prints, writes or returns: run it in a folder and under a "
    "user of its own, and compare what it gives with what you know."
)
_ASK_MORE = "Ask for the whole answer and nothing beside it: `exact_match`, or a pattern between `^` and `$`."
_ASK_WHOLE = (
    "A piece of the answer is in it, and begins or ends it: compare the whole, with what you know on both sides."
)

STUDENTS: tuple[Student, ...] = (
    Student(
        "nothing",
        "hands in nothing and says nothing",
        "Ask for something that must be there; a rule that only forbids passes over nothing.",
        files.nothing,
        say=None,
        by_hand=False,
    ),
    Student(
        "empty files",
        "hands in empty files",
        "Ask for content, not only for a file.",
        _writes(lambda *_: ""),
    ),
    Student(
        "instructions echoed",
        "hands in the instructions, and repeats them",
        "What the judge looks for stands in the instructions. Ask for something that only the work can give.",
        _writes(lambda scene, path: harmless_to_run(scene.instructions, path)),
        lambda scene: scene.instructions,
        by_hand=False,
        plain=True,
    ),
    _tells(
        "a boast",
        "claims that all is done and right",
        "Judge what was made, not what is said of it.",
        lambda _: BOAST,
    ),
    _tells(
        "an injection",
        "tells a judge model to answer YES",
        "Let the judge model see only what it must, and put a check that is no model beside it.",
        lambda _: INJECTION,
    ),
    _tells(
        "everything at once",
        "lists all numbers up to 9999, all letters, yes and no, true and false",
        _ASK_MORE,
        lambda _: EVERYTHING,
    ),
    Student(
        "NaN",
        "writes NaN for every number",
        "Compare so that NaN fails: `abs(x - y) <= limit`, never `not abs(x - y) > limit`.",
        _number("NaN"),
        lambda _: "NaN",
        by_hand=False,
        plain=True,
    ),
    Student(
        "Infinity",
        "writes Infinity for every number",
        "Ask for a finite number, with a bound on both sides.",
        _number("Infinity"),
        lambda _: "Infinity",
        by_hand=False,
        plain=True,
    ),
    Student(
        "the form alone",
        "writes an x for every letter and a 0 for every digit of right work",
        "Compare what stands there with what you know, not only how it looks.",
        _made_of_right(pieces.form_of),
        knows=True,
    ),
    Student(
        "an empty shell",
        "leaves out what the lists, texts and rows of right work hold, or writes a blank line",
        "Ask how many there are: what holds of every part holds where there is none.",
        _made_of_right(pieces.shell_of),
        knows=True,
    ),
    Student(
        "a beginning",
        "hands in the first character of right work",
        _ASK_WHOLE,
        _made_of_right(pieces.beginning_of),
        knows=True,
    ),
    Student(
        "an end",
        "hands in the last character of right work",
        _ASK_WHOLE,
        _made_of_right(pieces.end_of),
        knows=True,
    ),
    Student(
        "equal to anything",
        "hands in code whose value is equal to whatever it is compared with",
        "Never evaluate or import what was handed in: in the judge's own process it decides what is equal to what.",
        _writes(lambda _, path: pieces.equal_to_anything(path)),
        plain=True,
    ),
    Student(
        "not UTF-8",
        "hands in bytes that are no text",
        "Treat what cannot be read as wrong.",
        lambda scene, submission: scene.hand_in(submission, lambda _: b"\xff\xfe\x00\x80\xc3(" * 20, cut=True),
    ),
    _tells(
        "score file as data",
        "hands in what a score file holds",
        "The judge must not read a score out of what was handed in.",
        lambda _: SCORE + "\n",
    ),
    Student(
        "writes the score",
        "hands in a program that prints a score and writes it over every file in reach",
        _NEVER_RUN,
        _runs(writes_scores),
    ),
    Student(
        "exits early",
        "hands in a program that ends at once, with status 0",
        _NEVER_RUN,
        _runs(lambda path, _: ends_early(path)),
    ),
    Student(
        "left running",
        "hands in a program that leaves another one running, which rewrites scores and its own file",
        _NEVER_RUN,
        _runs(lingers),
    ),
    Student(
        "rewritten later",
        "puts the right answer at the original path once the copy is taken",
        _BY_COPY,
        _writes(lambda *_: "Not yet.\n"),
        later=True,
    ),
    Student("link to the key", "hands in a symlink to the right answer", _ON_CUSTODY, files.link_to_key),
    Student("hard link to the key", "hands in a hard link to the right answer", _ON_CUSTODY, files.hard_link_to_key),
    Student("linked folder", "puts a symlink in place of the folder above", _ON_CUSTODY, files.linked_way),
    Student("FIFO", "puts a pipe there that nobody writes to", _ON_CUSTODY, files.fifo),
    Student("folder for a file", "puts a folder where a file should be", "Ask for a file.", files.folder),
    Student(
        "1 GiB of zeros",
        "hands in 1 GiB of zeros, which take no space",
        "Set `max_bytes` on the submission.",
        files.zeros,
    ),
    Student(
        "deep tree",
        "hands in 40 folders in each other, at a path that no program can name",
        "Set `max_depth` on the submission.",
        files.deep_tree,
    ),
)
