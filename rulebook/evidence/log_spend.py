"""Tokens and money of an audit log, folded from its `usage` events."""

import math
from typing import Any

from rulebook.evidence.log_events import Payload, Undecodable
from rulebook.evidence.record import Record, Spend
from rulebook.evidence.transcript import Usage


class SpendFold:
    """Fills `usage` and `spend` of `record`. Every attempt counts, a refused or repeated one too."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._input = self._output = self._read = self._write = self._requests = 0

    def usage(self, payload: Payload, _: int, __: int) -> None:
        """One `usage`: the log's input is without cache, the record's with it."""
        told = payload.get
        read, write = told("cache_read_input_tokens", 0), told("cache_creation_input_tokens", 0)
        fresh, output = told("input_tokens", 0), told("output_tokens", 0)
        if not (type(read) is type(write) is type(fresh) is type(output) is int):
            raise Undecodable("`usage`: a number of tokens is not a whole number")
        self._input += fresh + read + write
        self._output += output
        self._read += read
        self._write += write
        self._requests += 1
        spent(self._record.spend, told("cost"))

    def finish(self) -> None:
        """Write the totals down; without one `usage` nothing is known of them."""
        if self._requests:
            self._record.usage = Usage(self._input, self._output, self._read, self._write, requests=self._requests)


def spent(spend: Spend, cost: Any) -> None:
    """Add one cost as the log writes it; whatever is not a known, finite amount in a currency is unknown."""
    said = cost if type(cost) is dict else {}
    known = said.get("known")
    if type(known) is dict:
        value, currency = known.get("value"), known.get("currency")
        if (
            (type(value) is float or type(value) is int)
            and 0 <= value < math.inf
            and type(currency) is str
            and currency
        ):
            spend.priced += 1
            if currency == spend.currency:
                spend.amount += value
            elif spend.currency is None:
                spend.currency, spend.amount = currency, value
            else:
                spend.mixed = True
            return
    if known is None and said.get("free") is True:
        spend.free += 1
    else:
        spend.unpriced += 1
