"""RB514: a judge model that is the student's own."""

from rulebook.checks import JUDGE_KINDS
from rulebook.errors import UsageError
from rulebook.expression.nodes import Leaf, leaves_of
from rulebook.expression.program import Loaded, Program, folder_of
from rulebook.ports import Files


def look(loaded: Loaded, files: Files) -> None:
    """Note every rule that asks the model which the eval itself runs; at run time the report says it of any other."""
    student = loaded.content.spec.head.model if isinstance(loaded.content, Program) else None
    asking = [] if student is None else [leaf for leaf in leaves_of(i.node for i in loaded.items) if _asks(leaf)]
    if student is None or not asking:
        return
    from rulebook.evidence.model_names import same_model  # only an eval that names both pays

    names = _Names(loaded.file, files)
    works = (student, names.real(student) or student)
    for leaf in asking:
        reader, path = loaded.readers[leaf.common.file], (*leaf.common.path, leaf.common.kind)
        for key, asked in _asked_models(leaf):
            judge = names.real(asked, getattr(leaf.check, "base_url", None))
            if judge is not None and any(same_model(judge, name) for name in works):
                own = (*path, key)
                reader.add_at_key("RB514", own if own in reader.document.keys else path, model=judge)
                break


def _asks(leaf: Leaf) -> bool:
    return leaf.check.kind in JUDGE_KINDS  # asked of its key, lest the kind be imported for it


def _asked_models(leaf: Leaf) -> list[tuple[str, str | None]]:
    """The models that the rule asks, each with the key that names it; None is the default one."""
    several = getattr(leaf.check, "judges", None)
    first = [("judges", name) for name in several] if several else [("model", getattr(leaf.check, "model", None))]
    second = getattr(leaf.check, "fallback_model", None)
    return first if second is None else [*first, ("fallback_model", second)]


class _Names:
    """What models are really called, by the configuration that holds for a file; one with a mistake is RB511's."""

    def __init__(self, file: str, files: Files) -> None:
        from rulebook.spec.provider_files import config_files, read_providers  # as above
        from rulebook.spec.providers import Providers

        try:
            self.providers = read_providers(config_files(folder_of(file), files), files)
        except UsageError:
            self.providers = Providers()

    def real(self, model: str | None, base_url: str | None = None) -> str | None:
        """The name at the endpoint; the given one where nobody knows that, None where there is no name at all."""
        try:
            return self.providers.chosen(model, base_url, None).model
        except UsageError:
            return model
