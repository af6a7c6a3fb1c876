"""RB511: a judge model that nothing names."""

from rulebook.checks import JUDGE_KINDS
from rulebook.errors import UsageError
from rulebook.expression.nodes import Leaf, leaves_of
from rulebook.expression.program import Loaded, folder_of
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import EvaluationSpec


def look(loaded: Loaded, files: Files) -> None:
    """Note every rule that asks a model where neither it nor the configuration names one."""
    nameless = [leaf for leaf in leaves_of(item.node for item in loaded.items) if _asks_any_model(leaf)]
    in_task = isinstance(loaded.content, EvaluationSpec) and _asks_any(loaded.content)
    how = _unnamed(loaded.file, files) if nameless or in_task else ""
    for leaf in nameless if how else ():
        loaded.readers[leaf.common.file].add_at_key("RB511", (*leaf.common.path, leaf.common.kind), how=how)
    if in_task and how:
        loaded.readers[loaded.file].add_at_key("RB511", ("task", "model"), how=how)


def _asks_any(spec: EvaluationSpec) -> bool:
    return spec.task is not None and spec.task.model is not None and spec.task.model.model is None


def _asks_any_model(leaf: Leaf) -> bool:
    # asked of its key, lest the kind be imported for it
    return (
        leaf.check.kind in JUDGE_KINDS
        and getattr(leaf.check, "model", "") is None
        and not getattr(leaf.check, "judges", None)
    )


def _unnamed(file: str, files: Files) -> str:
    """What to do about there being no default model; empty where there is one."""
    from rulebook.spec.provider_files import config_files, read_providers  # only a rule that asks any model pays
    from rulebook.spec.providers import HOW_TO_NAME

    try:
        providers = read_providers(config_files(folder_of(file), files), files)
    except UsageError as error:
        return str(error)
    return "" if providers.model else HOW_TO_NAME
