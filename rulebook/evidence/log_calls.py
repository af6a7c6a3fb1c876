"""Tool calls of an audit log, joined with their approvals and results."""

from typing import Any

from msgspec import Struct

from rulebook.evidence.log_events import PERMITTING, Payload, json_value
from rulebook.evidence.log_network import FETCH_TOOL, NETWORK_ACTIONS, NetworkFold, host_of_fetch
from rulebook.evidence.record import Approval, Call, Record, Wants
from rulebook.evidence.repeats import repeated_key
from rulebook.outcome import Seen

BUDGET_ACTION = "budget.raise"
"""Asked for by the harness when a budget runs out: its refusal is the budget's doing and not the agent's."""


class CallFold:
    """Fills calls, approvals and refusals of `record`.

    Memory beyond what `wants` keeps: a name for each call without a result, and each unanswered request.
    `caller` is the main thread's index of the last assistant message.
    """

    def __init__(self, record: Record, wants: Wants, network: NetworkFold) -> None:
        self._record, self._wants, self._network = record, wants, network
        self._keeping = wants.order
        self._counts = record.tool_counts
        self._open: dict[str, str] = {}
        self._kept: dict[str, _Kept] = {}
        self._fetched: dict[str, str] = {}
        self._requests: dict[int, Payload] = {}
        self.caller: int | None = None

    def call(self, payload: Payload, at: int, time_ms: int) -> None:
        """A `tool.call`: the attempt counts, whatever becomes of it."""
        call_id, tool, raw = payload["call_id"], payload["tool"], payload["arguments"]
        if not (type(call_id) is type(tool) is type(raw) is str):
            raise TypeError
        if tool not in self._counts:
            index = sum(self._counts.values())
            self._record.first_call[tool] = Seen(at, self.caller, index, call_id)
            self._counts[tool] = 0
        self._counts[tool] += 1
        self._open[call_id] = tool
        if tool == FETCH_TOOL:
            self._fetch(call_id, raw, at)
        if self._keeping:
            index = len(self._record.calls)
            call = Call(index, call_id, tool, _object(raw), raw, offset=at, message=self.caller)
            call.turn = self._record.turns
            self._keep_call(call, time_ms)

    def result(self, payload: Payload, at: int, time_ms: int) -> None:
        """A `tool.result`; one that answers no open call tells nothing."""
        call_id, output, is_error = payload["call_id"], payload["output"], payload["is_error"]
        if not (type(call_id) is type(output) is str and type(is_error) is type(payload["truncated"]) is bool):
            raise TypeError
        self._open.pop(call_id, None)
        if self._fetched and call_id in self._fetched:
            self._network.host(self._fetched.pop(call_id), Seen(offset=at), granted=not is_error)
        if self._kept and call_id in self._kept:
            kept = self._kept.pop(call_id)
            kept.call.result = output
            kept.call.duration_s = max(0, time_ms - kept.time_ms) / 1000
            kept.call.status = "refused" if kept.refused else "error" if is_error else "ok"

    def request(self, payload: Payload, at: int, _: int) -> None:
        """An `approval.request`, kept until it is answered."""
        self._requests[at] = {key: payload[key] for key in ("action", "reason", "tool_call_id")}
        self._network.action(payload["action"], at, granted=False)

    def response(self, payload: Payload, at: int, _: int) -> None:
        """An `approval.response`: what it does not say itself it takes from the request it answers."""
        decision, request_id = payload["decision"], payload["request_id"]
        if type(decision) is not str or type(request_id) is not int or type(payload["responder"]) is not str:
            raise TypeError
        request = self._requests.pop(request_id, _NO_REQUEST) if request_id else _NO_REQUEST
        action = payload.get("action") or request["action"]
        permitting = decision in PERMITTING
        network = action[:1] == "n" and action.startswith(NETWORK_ACTIONS)
        if permitting and not network and not self._kept and not self._wants.approvals:
            return
        call_id = payload.get("tool_call_id") or request["tool_call_id"]
        if call_id in self._kept and not action.startswith("net.connect."):
            self._kept[call_id].refused = not permitting  # a program that was kept from the network did run
        reason = request["reason"] or payload.get("review_note", "")
        if not (type(action) is type(call_id) is type(reason) is str):
            raise TypeError
        tool = self._open.get(call_id, "")
        self._decided(Approval(action, tool, decision, reason, permitting, Seen(offset=at)), network, at)

    def finish(self) -> None:
        """Write the count down, and mark what never got a result."""
        self._record.call_count = sum(self._counts.values())
        for kept in self._kept.values():
            kept.leave()

    def _keep_call(self, call: Call, time_ms: int) -> None:
        if call.id in self._kept:
            self._kept[call.id].leave()
        self._kept[call.id] = _Kept(call, time_ms)
        self._record.calls.append(call)

    def _fetch(self, call_id: str, raw: str, at: int) -> None:
        host = host_of_fetch(raw)
        if host is not None:
            self._fetched[call_id] = host
            self._network.host(host, Seen(offset=at), granted=False)

    def _decided(self, approval: Approval, network: bool, at: int) -> None:
        if self._wants.approvals:
            self._record.approvals.append(approval)
        if network:
            self._network.action(approval.action, at, granted=approval.permitting)
        if not approval.permitting and approval.action != BUDGET_ACTION:
            self._record.refusals.append(approval)
        elif approval.permitting and network:
            self._network.permit(approval)


class _Kept(Struct):
    """A call that was asked for and has no result so far."""

    call: Call
    time_ms: int
    refused: bool = False

    def leave(self) -> None:
        """No result will come."""
        self.call.status = "refused" if self.refused else "unfinished"


_NO_REQUEST: Payload = {"action": "", "reason": "", "tool_call_id": ""}


def _object(raw: str) -> dict[str, Any] | None:
    value = json_value(raw)
    return value if isinstance(value, dict) and repeated_key(raw, value) is None else None
