"""A whole rule file, read and compiled: what the linter looks at and what a check of a session runs."""

import os
from collections.abc import Mapping

from msgspec import Struct

from rulebook.diagnostic import Diagnostic, has_errors, in_order
from rulebook.evidence.record import Wants
from rulebook.evidence.scope import file_scope
from rulebook.expression.compile import FINDING, PART, Compiler
from rulebook.expression.items import Item, wants_of_items
from rulebook.expression.task_program import TaskProgram
from rulebook.languages.types import ANYTHING
from rulebook.ports import Files
from rulebook.source.files import read_rules
from rulebook.source.located import Located
from rulebook.spec.cases import SuiteSpec
from rulebook.spec.evaluation_parts import EvaluationSpec
from rulebook.spec.head import schema_of
from rulebook.spec.reader import Reader
from rulebook.spec.rules import PackSpec, RuleSpec
from rulebook.spec.session_eval import EvalSpec, read_eval


class Program(Struct, frozen=True):
    """A `chock.eval`, compiled. `wants` is what its rules ask of a session beyond counts."""

    spec: EvalSpec
    items: tuple[Item, ...]
    wants: Wants


class Loaded(Struct, frozen=True):
    """What came of loading a rule file. `content` is None when an error keeps it from being used.

    `readers` has the reader of every file that was read, by name, the rule file itself first.
    """

    file: str
    text: str
    schema: str | None
    content: Program | TaskProgram | SuiteSpec | PackSpec | EvaluationSpec | None
    diagnostics: tuple[Diagnostic, ...]
    readers: Mapping[str, Reader]
    rule_count: int = 0

    @property
    def items(self) -> tuple[Item, ...]:
        """The trees that decide something in it: an eval's findings, the judges of a task's steps."""
        return self.content.items if isinstance(self.content, Program | TaskProgram) else ()


def load_rules(path: str, files: Files) -> Loaded:
    """Read and compile the rule file at `path`. Never raises for what stands in it."""
    reading = read_rules(path, files)
    if reading.document is None:
        return Loaded(path, "", None, None, in_order(reading.diagnostics), {})
    return compile_document(reading.document, reading.diagnostics, files)


def compile_document(document: Located, noted: tuple[Diagnostic, ...], files: Files) -> Loaded:
    """Compile a document that has been read; `noted` is what reading it said."""
    reader = Reader(document)
    readers = {document.file: reader}
    schema = schema_of(document, reader)
    content: Program | TaskProgram | SuiteSpec | PackSpec | EvaluationSpec | None = None
    count = 0
    if schema == "chock.eval":
        content, count = _eval(document, readers, files)
    elif schema == "rulebook.task":
        content, count = _task(document, readers, files)
    elif schema == "chock.rl-suite":
        from rulebook.spec.suite import read_suite  # evals and packs do without

        content = read_suite(document, reader)
    elif schema == "rulebook.evaluation":
        from rulebook.spec.evaluation import read_evaluation  # as above

        evaluation = read_evaluation(document, reader)
        content, count = evaluation, 0 if evaluation is None else len(evaluation.scorers)
    elif schema == "rulebook.pack":
        content = _pack(document, readers)
    found = [*noted, *(d for each in readers.values() for d in each.problems)]
    own = in_order(d for d in found if d.file == document.file)
    others = in_order(d for d in found if d.file != document.file)
    whole = None if has_errors((*own, *others)) else content
    return Loaded(document.file, document.text, schema, whole, (*own, *others), readers, count)


def _eval(document: Located, readers: dict[str, Reader], files: Files) -> tuple[Program | None, int]:
    """The program, and how many rules it has."""
    reader = readers[document.file]
    packs = _packs(reader, readers, files)
    spec = read_eval(document, reader, packs)
    if spec is None:
        return None, 0
    named = {rule.name: rule.rule for rule in spec.checks}
    tests = tuple(test.id.removeprefix("tests[").removesuffix("]") for test in spec.tests)
    scope = file_scope({param.name: param.kind for param in spec.params}, tests)
    compiler = Compiler(readers, scope, named, {pack.alias: pack for pack in packs}, _written(document, packs))
    items = _items(spec, compiler)
    if not (spec.expectations or spec.tests or spec.checks or spec.judge or reader.problems):
        reader.add_at_key("RB611", ("name",))
    return Program(spec, items, wants_of_items(items)), len(named) + len(items)


def _task(document: Located, readers: dict[str, Reader], files: Files) -> tuple[TaskProgram | None, int]:
    from rulebook.expression.task_compile import task_program  # evals and packs do without
    from rulebook.spec.task import read_task  # as above

    reader = readers[document.file]
    packs = _packs(reader, readers, files)
    spec = read_task(document, reader, packs, files)
    if spec is None:
        return None, 0
    packed = tuple(name for name in _written(document, packs) if "." in name)
    program = task_program(spec, readers, packed)
    return program, len(program.steps) + len(spec.checks) + sum(len(step.checks) for step in spec.steps)


def _packs(reader: Reader, readers: dict[str, Reader], files: Files) -> tuple[PackSpec, ...]:
    data = reader.document.data
    if not isinstance(data, dict) or "use" not in data:
        return ()
    from rulebook.expression.packs import read_packs  # a file that uses no packs does without

    return read_packs(reader, readers, files)


def _pack(document: Located, readers: dict[str, Reader]) -> PackSpec | None:
    from rulebook.spec.pack import read_pack  # evals without packs, and suites, do without

    spec = read_pack(document, readers[document.file])
    if spec is None:
        return None
    scope = file_scope(dict.fromkeys(spec.needs_params, ANYTHING), (), spec.needs_submissions or None)
    compiler = Compiler(readers, scope, spec.rules, {}, _written(document, ()))
    for name in spec.rules:
        compiler.lookup(name, PART, "")
    return spec


def _written(document: Located, packs: tuple[PackSpec, ...]) -> tuple[str, ...]:
    """Every name that stands under `checks`, here and in the packs."""
    own = _checks_of(document)
    return (*own, *(f"{pack.alias}.{name}" for pack in packs for name in _checks_of(pack.document)))


def _checks_of(document: Located) -> tuple[str, ...]:
    checks = document.data.get("checks") if isinstance(document.data, dict) else None
    return tuple(checks) if isinstance(checks, dict) else ()


def _items(spec: EvalSpec, compiler: Compiler) -> tuple[Item, ...]:
    found: list[Item] = []
    for expectation in (*spec.expectations, *spec.tests):
        node = compiler.rule(expectation.rule, FINDING)
        if node is not None:
            found.append(Item(expectation.id, node.common.category, 1.0, node))
    in_judge = _in_judge(spec.judge, compiler) if spec.judge is not None else set()
    for named in spec.checks:
        part = named.name in in_judge
        node = compiler.lookup(named.name, PART if part else FINDING, "")
        if node is not None and (not part or node.common.report):
            found.append(Item(f"checks[{named.name}]", node.common.category, node.common.weight, node))
        if node is not None and node.common.report and not part:
            why = "this rule gives a finding of its own anyway."
            compiler.reader(named.rule).add_at_key("RB215", (*named.rule.path, "report"), key="report", why=why)
    if spec.judge is not None:
        node = compiler.rule(spec.judge, FINDING)
        if node is not None:
            found.append(Item("judge", node.common.category, node.common.weight, node))
    return tuple(found)


def _in_judge(judge: RuleSpec, compiler: Compiler) -> set[str]:
    from rulebook.expression.mentions import mentioned  # a file without a judge does without

    return mentioned(judge, compiler)


def folder_of(path: str) -> str:
    """The folder from which relative paths in the file at `path` start."""
    return os.path.dirname(os.path.abspath(path))
