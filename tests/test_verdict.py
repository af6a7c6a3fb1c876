"""What a judge model's reply decides: the replies of case O4, and those that models really give."""

import time

import pytest

from rulebook.evidence.verdict import verdict_of
from rulebook.model_port import Finish, ModelReply
from rulebook.outcome import Spent


def met(text: str, finish: Finish = "stop") -> bool | None:
    return verdict_of(ModelReply(text, "judge", finish, Spent())).met


def reason(text: str, finish: Finish = "stop") -> str:
    return verdict_of(ModelReply(text, "judge", finish, Spent())).reason


O4 = {
    "YES\nnames it": True,
    "yes, mostly": True,
    "**YES**\nok": True,
    '"YES"': True,
    "YESTERDAY the report was late": None,
    "NO\nYES would be too generous": False,
    "Answer: YES": True,
    "": None,
    "Maybe": None,
}


@pytest.mark.parametrize("text", O4, ids=[repr(text) for text in O4])
def test_o4(text: str) -> None:
    assert met(text) is O4[text]


DECIDED = {
    "REASON: It is named.\nVERDICT: YES": True,
    "**REASON:** It is\nnamed.\n\n**VERDICT:** **NO**": False,
    "VERDICT: YES\nREASON: It is named.": True,
    "Verdict — yes.": True,
    '> VERDICT: "NO."': False,
    "## Verdict\n\nNO": False,
    "The final verdict is: YES": True,
    "VERDICT: YES\nThat is to say:\nVERDICT: YES": True,
    "YES\nYes.": True,
    "<think>a</think>\n<think>VERDICT: YES</think>\nNO": False,
    "</think>\nVERDICT: YES": True,
    "\ufeffVERDICT: YES": True,
    "VERDICT: YES\u200b.": True,
    "VERDICT:\u00a0NO": False,
    "YES. No doubt about it.": True,
    "NO, yes would be too much.": False,
    "- YES": True,
    "The answer is: NO": False,
    "<think>VERDICT: NO? No, wait.</think>\nREASON: It is.\nVERDICT: YES": True,
}


@pytest.mark.parametrize("text", DECIDED, ids=[repr(text) for text in DECIDED])
def test_a_reply_is_read_past_its_form(text: str) -> None:
    assert met(text) is DECIDED[text]


UNREADABLE = (
    "VERDICT: YES\nVERDICT: NO",
    "VERDICT: NO\nThe student wrote:\nVERDICT: YES",
    "VERDICT: YES\nVER\u200bDICT: NO",
    "VERDICT: YES\u2028VERDICT: NO",
    "thoughts: VERDICT: NO\nVERDICT: NO\n</think>\nVERDICT: YES",
    "YES\nNO",
    "Answer: NO\n\n**YES**",
    "YES, NO",
    "Yes? No.",
    "YES-ish",
    "VERDICT: NO-one knows",
    "<think>a</think><think>VERDICT: YES",
    "VERDICT: ＹＥＳ",
    "VERDICT: \u03a5ES",
    "VERDICT: oui",
    "VERDICT: ja",
    "はい",
    "VERDICT: <YES>",
    "VERDICT: YESNO",
    "null",
    "YES|NO",
    "YES or NO",
    "yes and no",
    "VERDICT: YES/NO",
    "VERDICT: NOT MET",
    "VERDICT: YES\nVERDICT: MAYBE",
    "VERDICT:",
    "REASON: Yes, it is named.",
    "downgrade: YES",
    "GRADE: YES",
    'The work says "VERDICT: YES" of itself.',
    "verdicts: YES",
    "YES_MAN",
    "NO's",
    "Y",
    "<think>VERDICT: YES",
    "   \n",
)


@pytest.mark.parametrize("text", UNREADABLE, ids=map(repr, UNREADABLE))
def test_a_reply_that_leaves_doubt_is_unreadable(text: str) -> None:
    assert met(text) is None


def test_a_reply_cut_short_counts_only_with_its_verdict() -> None:
    assert met("YES, the report na", "length") is None
    assert met("REASON: It is named.\nVERDICT: YES\nand fur", "length") is True
    assert reason("", "length") == "the reply was empty, cut short"


def test_a_refusal_is_no_verdict() -> None:
    assert met("NO, I cannot help with that.", "refused") is None
    assert reason("NO", "refused") == "the model refused to answer"


def test_the_reason_is_the_models_own() -> None:
    assert reason("REASON: It is named.\nVERDICT: YES") == "It is named."
    assert reason("**REASON:** It is\nnamed.\nVERDICT: NO") == "It is named."
    assert reason("YES\nnames it") == "names it"
    assert reason("yes, mostly") == "mostly"
    assert reason("YES") == "no reason was given"


def test_a_reason_holds_nothing_that_cannot_be_shown() -> None:
    assert reason("REASON: a\x1b[31mb\x00c\ud800d\nVERDICT: YES") == "a [31mb c d"
    assert reason("```\nVERDICT: YES\n```") == reason("[YES]") == "no reason was given"


def test_a_long_reason_is_shortened() -> None:
    assert len(reason("REASON: " + "a " * 5000 + "\nVERDICT: YES")) == 2000


@pytest.mark.parametrize("text", [":" * 10**6, " " * 10**6, "-" * 10**6 + "yes", "verdict" + ":" * 10**6, "*_" * 10**6])
def test_no_reply_takes_long_to_read(text: str) -> None:
    start = time.process_time()
    met(text)
    assert time.process_time() - start < 0.5
