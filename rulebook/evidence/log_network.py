"""Which hosts a session spoke to, as far as its audit log tells: summaries, approved actions, fetched addresses."""

from typing import Any

from rulebook.evidence.log_events import Payload, json_value
from rulebook.evidence.record import Approval, Network
from rulebook.outcome import Seen

FETCH_TOOL = "fetch_url"
NETWORK_ACTIONS = ("net.", "nix.net.")


class NetworkFold:
    """Fills `network`. The list of hosts is complete only when every run of the session says that its own is."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._complete = True
        self._running = False

    def config(self) -> None:
        """A run begins; until its summary the list of hosts may grow."""
        self._running = True
        self._network.hosts_complete = False

    def summary(self, payload: Payload, at: int, _: int) -> None:
        """Add what one run says at its end."""
        network, seen = self._network, Seen(offset=at)
        granted, refused = _count(payload.get("granted")), _count(payload.get("refused"))
        hosts = [entry for entry in _items(payload.get("hosts")) if isinstance(entry.get("host"), str)]
        for entry in hosts:
            self.host(entry["host"], seen, granted=_count(entry.get("granted")) > 0)
        network.summaries += 1
        network.granted += granted
        network.refused += refused
        nothing_to_list = granted == 0 and refused == 0
        self._complete &= nothing_to_list or (payload.get("hosts_complete") is True and bool(hosts))
        self._running = False
        network.hosts_complete = self._complete

    def host(self, name: str, seen: Seen, *, granted: bool) -> None:
        """Note one host; the first place where it was seen is kept, and that it was ever granted."""
        name = name.lower().rstrip(".")
        if not name:
            return
        first, before = self._network.hosts.get(name, (seen, False))
        self._network.hosts[name] = (first, before or granted)

    def action(self, action: str, at: int, *, granted: bool) -> None:
        """Note the host of a network action that was asked for or decided."""
        name = host_of_action(action)
        if name is not None:
            self.host(name, Seen(offset=at), granted=granted)

    def permit(self, approval: Approval) -> None:
        """Keep the first permitted approval of each network action."""
        kept = self._network.permitted
        if all(known.action != approval.action for known in kept):
            kept.append(approval)


def host_of_action(action: str) -> str | None:
    """The host in `net.connect.com.example.api.443` or `net.fetch.com.example`; None in any other action."""
    if action.startswith(_CONNECT):
        labels = action.removeprefix(_CONNECT).split(".")[:-1]
    elif action.startswith(_FETCH):
        labels = action.removeprefix(_FETCH).split(".")
    else:
        return None
    return ".".join(reversed(labels)) or None


def host_of_fetch(arguments: str) -> str | None:
    """The host that a call of `fetch_url` asks for; None when its arguments name none."""
    from urllib.parse import urlsplit  # few sessions fetch anything, and this is a tenth of our start-up

    said = json_value(arguments)
    url = said.get("url") if isinstance(said, dict) else None
    try:
        return urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        return None


_CONNECT = "net.connect."
_FETCH = "net.fetch."


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int) and value > 0 else 0


def _items(value: Any) -> list[Payload]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
