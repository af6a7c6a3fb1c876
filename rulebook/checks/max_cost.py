"""`max_cost`: how much money the session may cost."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Spend
from rulebook.languages.faults import Fault, LanguageError, Shown, refused
from rulebook.languages.values import Currency, money_in
from rulebook.outcome import Outcome, binary, reaches
from rulebook.ports import Ports


class MaxCost(Check, kind="max_cost"):
    """The session cost at most this much. What is not known is never 0, and two currencies are never added.

    Source: session-evals, `max_cost` and `currency`.
    """

    short = "amount"
    category = "budget"
    in_expect = True

    amount: float = Field(ge=0, description="The most that the session may cost.")
    currency: Currency = Field(description="The currency of the amount, such as `USD`.")

    @model_validator(mode="before")
    @classmethod
    def _needs_a_currency(cls, options: object) -> object:
        if not isinstance(options, Mapping) or set(options) != {"amount"}:
            return options
        amount = options["amount"]
        money = money_in(amount) if isinstance(amount, str) else None
        if money is not None:
            whole = Shown({"amount": float(money[0]), "currency": money[1]}, around=" Write `{}`.")
            words = {"key": "max_cost", "wanted": "a number", "found": f"the text `{amount}`", "hint": whole}
            raise refused(LanguageError(Fault("RB203", words, path=("amount",))))
        if isinstance(amount, int | float):
            needs = Shown({"amount": amount, "currency": "USD"}, around="a currency: write `{}`")
            raise refused(LanguageError(Fault("RB807", {"key": "max_cost", "needs": needs})))
        return options

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session costs at most {_money(self.amount, self.currency)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the cost of all turns, when every one of them is known."""
        record = evidence.session
        record.need("cost", "what the session cost")
        spend = record.spend
        unknown = self._unknown(spend)
        if unknown:
            raise Missing(self.owner(), unknown)
        passed = reaches(self.amount, spend.amount)
        if passed:
            need_whole(record, self.owner())
        actual = _money(spend.amount, self.currency) if spend.priced else "nothing"
        return binary(passed, expected=f"at most {_money(self.amount, self.currency)}", actual=actual)

    def _unknown(self, spend: Spend) -> str:
        turns = spend.priced + spend.unpriced + spend.free
        if turns == 0:
            return "the log does not say what the session cost"
        if spend.unpriced:
            return f"the log does not say what {spend.unpriced} of {turns} turns cost"
        if spend.mixed:
            return "the log counts in more than one currency, and those cannot be added"
        if spend.priced and spend.currency != self.currency:
            return f"the log counts in {spend.currency or 'no currency'}, and the rule asks for {self.currency}"
        return ""


def _money(amount: float, currency: str) -> str:
    return f"{amount:.10g} {currency}"
