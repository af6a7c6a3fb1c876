"""A client of one OpenAI-compatible endpoint that takes no more of an answer than there can be in one."""

from collections.abc import AsyncIterator

import httpx2
import openai

MAX_BODY_BYTES = 8 * 1024 * 1024
"""How much of an answer is taken; what an endpoint sends beyond that is not read."""

_CONNECT_S = 10.0


class Unfit(openai.OpenAIError):
    """An answer that is not read to its end; the message completes "the endpoint …"."""


class _Capped(httpx2.AsyncByteStream):
    """A body that is given up once it is larger than any answer: nobody's memory is an endpoint's to fill."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise Unfit(f"sent more than {MAX_BODY_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        """Close the connection's side of it."""
        await self._stream.aclose()


async def _cap(response: httpx2.Response) -> None:
    # a small body that unpacks to gigabytes would pass under the cap
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unfit("sent a compressed answer, which was not asked for")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Capped(response.stream)


def client_of(base_url: str, key: str) -> openai.AsyncOpenAI:
    """A client of the endpoint, which asks once and follows nobody elsewhere. The caller closes it."""
    # no redirects: an answer from elsewhere is not the endpoint's that the author named
    limits = httpx2.Timeout(None, connect=_CONNECT_S)
    encrypted = base_url.lower().startswith("https:")  # reading every root certificate takes 40 ms, and http needs none
    web = httpx2.AsyncClient(event_hooks={"response": [_cap]}, timeout=limits, follow_redirects=False, verify=encrypted)
    # a connection of its own for every question: what an endpoint sends after an answer is none to the next question
    headers = {"Accept-Encoding": "identity", "Connection": "close"}
    return openai.AsyncOpenAI(api_key=key, base_url=base_url, http_client=web, max_retries=0, default_headers=headers)
