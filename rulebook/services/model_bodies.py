"""What an OpenAI-compatible endpoint is sent, without the parameters that a model said it does not take."""

import re
from typing import Any

from rulebook.model_port import EmbeddingRequest, ModelRequest
from rulebook.services.model_replies import Fault, writable

PARAMETERS = ("max_tokens", "temperature", "response_format")
"""What a model may not take; it is then asked without, for which one request more is made, once."""

_NO_SCHEMA = r"response_format|json_schema|structured.?outputs?"


def chat_body(request: ModelRequest, model: str, left_out: frozenset[str]) -> dict[str, Any]:
    """The body of a question. `left_out` holds those of `PARAMETERS` that this model does not take."""
    asked = [("system", request.system), ("user", request.user)]
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": writable(text)} for role, text in asked if text or role == "user"],
        "max_completion_tokens" if "max_tokens" in left_out else "max_tokens": request.max_tokens,
    }
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    if request.schema is not None and "response_format" not in left_out:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {**body, **request.more}


def embedding_body(request: EmbeddingRequest, model: str) -> dict[str, Any]:
    """The body of a request for vectors."""
    return {"model": model, "input": [writable(text) for text in request.texts], "encoding_format": "float"}


def refused_parameter(fault: Fault, left_out: frozenset[str]) -> str | None:
    """The parameter that the model says it does not take, as far as it was sent."""
    if fault.too_long or not re.search(r"status (400|404|415|422|501)\b", fault.reason):
        return None
    for name in PARAMETERS:
        quoted = any(f"{sign}{name}{sign}" in fault.reason for sign in "'`\"")
        told = quoted or (name == "response_format" and re.search(_NO_SCHEMA, fault.reason, re.I) is not None)
        if told and name not in left_out:
            return name
    return None
