"""Fields of a check that say where a model is asked."""

from typing import Annotated

from pydantic import AfterValidator

from rulebook.languages.endpoints import masked, no_address, no_variable
from rulebook.languages.faults import Fault, LanguageError, refused


def _url(text: str) -> str:
    why = no_address(text)
    if not why:
        return text
    what = "an endpoint's address" if why == "is no address" else f"an endpoint's address: it {why}"
    words = {"value": masked(text), "what": what, "example": "`http://127.0.0.1:8000/v1`"}
    raise refused(LanguageError(Fault("RB214", words)))


def _variable(text: str) -> str:
    if not no_variable(text):
        return text
    what = "the name of the variable that holds the key"
    words = {"value": masked(text), "what": what, "example": "`OPENAI_API_KEY`"}
    raise refused(LanguageError(Fault("RB214", words)))


AddressField = Annotated[str, AfterValidator(_url)]
"""The address of an OpenAI-compatible endpoint."""

VariableField = Annotated[str, AfterValidator(_variable)]
"""The name of the variable that holds a key, and never the key."""
