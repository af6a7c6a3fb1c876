"""The scorers of an evaluation's rule file that ask a model: what the file says, made into what Python declares."""

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

from rulebook.api.column_pieces import pieces_of
from rulebook.api.embedding_scorer import likeness_over
from rulebook.api.label_scorer import labels_over
from rulebook.api.model_scorer import Grade, Graded, ModelScorer, Values
from rulebook.api.traces import sessions_among
from rulebook.errors import UsageError
from rulebook.evidence.ballots import Ask, Ballot, Voting
from rulebook.evidence.field_judge import FieldJudge, casts_by_fields
from rulebook.evidence.judge_answers import JudgeModel
from rulebook.evidence.label_judge import INSTRUCTIONS, LabelJudge
from rulebook.evidence.likeness import Embedder
from rulebook.ports import Files, Ports
from rulebook.services.model_keys import key_fault
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.judge_identity import models_named
from rulebook.spec.judged_scorers import EmbeddingScorer, JevScorer, LlmJudgeScorer
from rulebook.spec.provider_files import config_files, read_providers
from rulebook.spec.providers import Providers


def judged_scorer(spec: ScorerSpec, ports: Ports, folder: str) -> ModelScorer | None:
    """The scorer that asks the models of these `ports`; None for a kind that asks none.

    The sessions that a row's `trace` names are looked for in `folder`. A reply that cannot be read is asked for once
    more, as for the checks of these names.
    """
    voting, columns = Voting(), tuple(spec.inputs or ())
    match spec.keys:
        case LlmJudgeScorer() as keys:
            voting = keys.voting()
            grade = _fields_of(keys, columns, ports)
        case JevScorer() as keys:
            voting = keys.voting()
            grade = labels_over(_label_judge(keys), lambda: ports, keep_both=True, again=True)(columns)
        case EmbeddingScorer() as keys:
            grade = likeness_over(Embedder(keys.model, keys.base_url, keys.api_key_env), lambda: ports)
        case _:
            return None
    shown = MappingProxyType(dict(spec.options))
    sessions = frozenset[str]() if isinstance(spec.keys, EmbeddingScorer) else sessions_among(columns)
    return ModelScorer(spec.kind, spec.name, columns, grade, shown, voting=voting, optional=sessions, folder=folder)


def who_judges(scorers: Iterable[ScorerSpec], folder: str, files: Files) -> list[str]:
    """The endpoints and models that these scorers ask, by the configuration that holds in `folder`.

    Raises UsageError for a scorer that could ask nobody: better than after the task was run for every row.
    """
    providers = read_providers(config_files(folder, files), files)
    return [_who(providers, each.name, *asked) for each in scorers for asked in _asked(each)]


def without_key(scorers: Iterable[ScorerSpec], folder: str, files: Files) -> list[str]:
    """What is to be said of scorers whose endpoint cannot be sent its key: answers that are kept may do without.

    Raises UsageError as `who_judges` does.
    """
    providers = read_providers(config_files(folder, files), files)
    found: list[str] = []
    for each in scorers:
        faults = (key_fault(providers.chosen(*asked).provider) for asked in _asked(each))
        fault = next((fault for fault in faults if fault is not None), None)
        if fault is not None:
            found.append(
                f"The scorer `{each.name}` can use kept answers alone: {fault}. Other rows will be unmeasured."
            )
    return found


def _asked(spec: ScorerSpec) -> Iterator[tuple[str | None, str | None, str | None]]:
    keys = spec.keys
    if isinstance(keys, LlmJudgeScorer | JevScorer | EmbeddingScorer):
        yield from ((name, keys.base_url, keys.api_key_env) for name in models_named(keys))


def _who(providers: Providers, scorer: str, model: str | None, base_url: str | None, key: str | None) -> str:
    try:
        chosen = providers.chosen(model, base_url, key)
    except UsageError as error:
        raise UsageError(f"The scorer `{scorer}` could ask no model: {error}") from None
    return f"{chosen.model} at {chosen.provider.base_url or chosen.provider.answers} ({chosen.provider.name})"


def _fields_of(keys: LlmJudgeScorer, columns: tuple[str, ...], ports: Ports) -> Grade:
    judges = tuple(JudgeModel(name, *keys.asked_how()) for name in keys.asked_models())
    judge = FieldJudge(keys.instructions or "", keys.answer, keys.score_formula(), judges)

    def graded(rows: Sequence[tuple[Values, Ask]]) -> list[Graded | Exception]:
        found = casts_by_fields([(pieces_of(columns, row), ask) for row, ask in rows], judge, ports, queued=True)
        return [_told(each.ballot) for each in found]

    return graded


def _told(ballot: Ballot | Exception) -> Graded | Exception:
    return (ballot.score, ballot.metadata) if isinstance(ballot, Ballot) else ballot


def _label_judge(keys: JevScorer) -> LabelJudge:
    *firsts, second = (JudgeModel(name, *keys.asked_how()) for name in (*keys.asked_models(), keys.fallback_model))
    told = INSTRUCTIONS if keys.instructions is None else keys.instructions
    return LabelJudge(keys.labels, keys.rubric, tuple(firsts), second, keys.bound(), told)
