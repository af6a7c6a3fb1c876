"""A `rulebook.evaluation` file for the command: read, or taken as it was read before where nothing has changed."""

from rulebook.api.ready_rules import ReadyRules
from rulebook.api.runnable_evaluation import RunnableEvaluation
from rulebook.ports import Ports
from rulebook.services.kept_rules import KeptRules


def load_evaluation(path: str, ports: Ports, *, allow_python: bool = False) -> RunnableEvaluation:
    """The evaluation in the file at `path`. Raises RuleFileError with every diagnostic, UsageError, DatasetError."""
    kept = KeptRules(path, ports.files)
    before = kept.find()
    if before is not None:
        return ReadyRules(path, before, ports)
    from rulebook.api.evaluation_files import EvaluationRules, evaluation_in, ready  # reading takes most of a start

    spec = evaluation_in(path, ports)
    rules = EvaluationRules(path, spec, ports, allow_python=allow_python)
    plain = ready(spec)
    if plain is not None:
        kept.keep(plain, spec.document.text)
    return rules
