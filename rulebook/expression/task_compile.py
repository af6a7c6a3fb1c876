"""A typed task becomes its program: each step's judge compiled where only that step's names can be used."""

from collections.abc import Iterable, Iterator, Mapping

from rulebook.evidence.scope import WRITE_TO, file_scope, submissions_record
from rulebook.evidence.sources import AssistantText
from rulebook.expression.compile import PART, Compiler, Stands
from rulebook.expression.mentions import mentioned, rules_in
from rulebook.expression.task_program import StepProgram, TaskProgram
from rulebook.languages.faults import Shown
from rulebook.languages.formula import Formula
from rulebook.languages.template import Template
from rulebook.languages.types import NUMBER, YES_NO, RecordOf, Scope, Type
from rulebook.place import Path
from rulebook.spec.reader import Reader
from rulebook.spec.rules import Named, OfCheck, RuleSpec
from rulebook.spec.steps import OracleSpec, StepSpec, TaskSpec

Readers = Mapping[str, Reader]

STEP_JUDGE = Stands(lenient=True)


def task_program(spec: TaskSpec, readers: Readers, packed: tuple[str, ...]) -> TaskProgram:
    """The program of a task; every problem is noted on the readers. `packed` has the names that the packs bring."""
    reader = readers[spec.document.file]
    steps: list[StepProgram] = []
    unused: list[Named] = []
    used: set[str] = set()
    for position, step in enumerate(spec.steps):
        compiler = _compiler(spec, step, position, readers, packed)
        _twice(reader, spec, step)
        _templates(reader, spec, step)
        if step.when is not None:
            _typed(reader, (*step.place, "when"), step.when, compiler.scope)
        names = set() if step.judge is None else mentioned(step.judge, compiler)
        used |= names
        node = None if step.judge is None else compiler.rule(step.judge, STEP_JUDGE)
        if node is not None:
            steps.append(StepProgram(step, node))
        unused += (own for own in step.checks if own.name not in names)
        _other_rules(compiler, (own for own in step.checks if own.name not in names))
        _sources(reader, step, _read_by(step, names, compiler))
    idle = [named for named in spec.checks if named.name not in used]
    _other_rules(_compiler(spec, _everything(spec), len(spec.steps), readers, packed), idle)
    _of_the_task(reader, spec)
    return TaskProgram(spec, tuple(steps), (*idle, *unused))


def _compiler(spec: TaskSpec, step: StepSpec, position: int, readers: Readers, packed: tuple[str, ...]) -> Compiler:
    """The compiler of one step's rules: its own names and those of the file, its submissions, the steps before it."""
    own = tuple(named.name for named in step.checks)
    rules = {named.name: named.rule for named in (*spec.checks, *step.checks)}
    params = {param.name: param.kind for param in spec.params}
    scope = file_scope(params, (), [submission.name for submission in step.submissions])
    scope = scope.plus({"steps": steps_record(spec.steps[:position], "`steps`, which has the steps before this one")})
    written = (*dict.fromkeys((*_written(spec, ()), *_written(spec, step.place))), *packed)
    packs = {pack.alias: pack for pack in spec.packs}
    return Compiler(readers, scope, rules, packs, written, nearest=own)


def steps_record(steps: Iterable[StepSpec], called: str = "`steps`") -> RecordOf:
    """The type of `steps` where these can be read, and what messages call it."""
    fields: dict[str, Type] = {"score": NUMBER, "passed": YES_NO}
    return RecordOf(called, {step.name: RecordOf(f"the step `{step.name}`", fields) for step in steps if step.name})


def _written(spec: TaskSpec, place: Path) -> tuple[str, ...]:
    """Every name that stands under `checks` at a place, those of rules that are not valid too."""
    holder = spec.document.at(place)
    checks = holder.get("checks") if isinstance(holder, dict) else None
    return tuple(checks) if isinstance(checks, dict) else ()


def _everything(spec: TaskSpec) -> StepSpec:
    """A step in which every submission of the task is handed in: for rules that no step uses."""
    handed_in = {submission.name: submission for step in spec.steps for submission in step.submissions}
    return StepSpec("", (), None, (), tuple(handed_in.values()), (), None)


def _twice(reader: Reader, spec: TaskSpec, step: StepSpec) -> None:
    """Note a step's rule that is called like one of the file's."""
    first = {named.name: named.rule.path for named in spec.checks}
    for named in step.checks:
        if named.name in first:
            line = reader.document.key_span(first[named.name]).line
            reader.add_at_key("RB301", named.rule.path, things="rules", name=named.name, line=line)


def _templates(reader: Reader, spec: TaskSpec, step: StepSpec) -> None:
    params = _params(spec)
    handed_in = submissions_record([submission.name for submission in step.submissions], WRITE_TO)
    scope = Scope("instructions", {"params": params, "submissions": handed_in})
    texts: list[tuple[Path, Template]] = [((*step.place, "hints", i), hint) for i, hint in enumerate(step.hints)]
    if step.instructions is not None:
        texts.append(((*step.place, "instructions"), step.instructions))
    for path, text in texts:
        for fault in text.faults(scope):
            reader.add_fault(fault, path)
    if step.oracle is not None:
        for path, text in _right_work(step.oracle, (*step.place, "oracle")):
            for fault in text.faults(Scope("an oracle", {"params": params})):
                reader.add_fault(fault, path)


def _right_work(oracle: OracleSpec, place: Path) -> Iterator[tuple[Path, Template]]:
    for name, content in oracle.hand_in.items():
        if isinstance(content, Template):
            yield (*place, "hand_in", name), content
        else:
            yield from (((*place, "hand_in", name, path), text) for path, text in content.items())
    if oracle.say is not None:
        yield (*place, "say"), oracle.say


def _of_the_task(reader: Reader, spec: TaskSpec) -> None:
    params = _params(spec)
    if spec.system_prompt is not None:
        for fault in spec.system_prompt.faults(Scope("the system prompt", {"params": params})):
            reader.add_fault(fault, ("system_prompt",))
    if isinstance(spec.score, Formula):
        scope = Scope("the score of a task", {"steps": steps_record(spec.steps), "params": params})
        _typed(reader, ("score",), spec.score, scope)


def _params(spec: TaskSpec) -> RecordOf:
    return RecordOf("`params`", {param.name: param.kind for param in spec.params})


def _typed(reader: Reader, path: Path, formula: Formula, scope: Scope) -> None:
    for fault in formula.faults(scope):
        reader.add_fault(fault, path)


def _other_rules(compiler: Compiler, rules: Iterable[Named]) -> None:
    """Look at rules that nothing stands on, so that their mistakes are said too."""
    for named in rules:
        compiler.lookup(named.name, PART, "")


def _read_by(step: StepSpec, names: set[str], compiler: Compiler) -> list[RuleSpec]:
    """Every rule of the file that a step reads, and its own ones."""
    tops = [compiler.named[name] for name in names if name in compiler.named]
    tops += [own.rule for own in step.checks if own.name not in names]
    return [rule for top in (*tops, *([step.judge] if step.judge else [])) for rule in rules_in(top)]


def _sources(reader: Reader, step: StepSpec, rules: Iterable[RuleSpec]) -> None:
    """Note text checks that do not say which text they mean, in a step whose student hands something in."""
    if not step.submissions:
        return
    handed_in = reader.shown(Shown({"submission": step.submissions[0].name}, "from"))
    for rule in rules:
        check = rule.body.check if isinstance(rule.body, OfCheck) else None
        field = type(check).model_fields.get("from_") if check is not None else None
        if check is None or field is None or "from_" in check.model_fields_set:
            continue
        said = reader.shown(Shown("assistant" if isinstance(field.default, AssistantText) else "final_message", "from"))
        purpose = f"the student hands something in, so say which text is meant: `{handed_in}` or `{said}`."
        reader.add_at_key("RB202", rule.body_path, thing=f"`{rule.kind}`", key="from", purpose=purpose)
