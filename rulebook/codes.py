"""Every code a diagnostic can bear, its severity, and its sentence: the one table of all words about rule files.

A number is never used again. A code's page is `linting/<name>.md`, its cases `tests/linting/<name>.yaml`.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]


class Code(NamedTuple):
    """One kind of problem. `message` has blanks in braces; `{guess}` is empty or starts with a space."""

    name: str
    severity: Severity
    message: str


CODES: dict[str, Code] = {
    # RB1xx: the file and its notation
    "RB101": Code("unreadable-file", "error", "I can't read this file: {reason}."),
    "RB102": Code("not-utf8", "error", "This file isn't saved as UTF-8 (first odd byte on line {line}). Save it as UTF-8 and try again."),
    "RB103": Code("tab-indent", "error", "This line is indented with a tab. YAML accepts only spaces there."),
    "RB104": Code("uneven-indent", "error", "`{key}` starts at column {found}, but the lines it belongs with start at column {wanted}."),
    "RB105": Code("unquoted-special", "error", "A value can't start with `{char}` unless it is in quotes: `{quoted}`."),
    "RB106": Code("colon-in-text", "error", "`: ` inside this text makes YAML think a new key begins. Put the whole text in quotes: `{quoted}`."),
    "RB107": Code("backslash-in-double-quotes", "error", "Double quotes treat `\\{char}` specially. Use single quotes for patterns: `{quoted}`."),
    "RB108": Code("unclosed-quote", "error", "The quote opened here is never closed."),
    "RB109": Code("unclosed-bracket", "error", "The `{bracket}` opened here is never closed, or text follows the closing one."),
    "RB110": Code("duplicate-key", "error", "`{key}` is written twice here (first on line {line}). Only one can count; keep one."),
    "RB111": Code("text-cut-by-hash", "warning", "Everything after ` #` is a comment, so this value is just `{value}`. Quote it if the `#` belongs to the text."),
    "RB112": Code("two-readings", "warning", "We read `{value}` as {ours}; many other tools read it as {theirs}. {advice}"),
    "RB113": Code("digits-lost", "warning", "`{value}` is a number, so it becomes `{number}`. Quote it to keep it exactly as written."),
    "RB114": Code("bare-braces", "error", "`{{{{ … }}}}` must be inside quotes, otherwise YAML reads it as a mapping."),
    "RB115": Code("anchor-or-merge", "error", "`{sign}` isn't part of the rule language. Name the rule once under `checks:` and use its name instead."),
    "RB116": Code("tag", "error", "`{tag}` isn't part of the rule language. If it is text, quote it: `{quoted}`."),
    "RB117": Code("several-documents", "error", "`---` starts a second document. Put each rule file in a file of its own."),
    "RB118": Code("empty-value", "warning", "`{key}:` has no value. Write `[]`, `''` or remove the line."),
    "RB119": Code("too-large", "error", "This file has {count} {parts}; the limit is {limit}."),
    "RB120": Code("look-alike-character", "error", "There is a {what} here, which only looks like {plain}. {instead}."),
    "RB121": Code("zon-pointer", "info", "`&` isn't needed before `.{{`; Zig's own reader refuses it here. Leave it out."),
    "RB122": Code("zon-keyword", "info", "`.{word}` is a Zig keyword; Zig's own reader wants `.@\"{word}\"`."),
    "RB123": Code("zon-syntax", "error", "{sentence}"),
    "RB124": Code("yaml-syntax", "error", "{sentence}"),
    "RB125": Code("control-character", "warning", "Double quotes turned `\\{char}` into a control character. Use single quotes for patterns: `{quoted}`."),
    "RB126": Code("pattern-ends-in-newline", "warning", "This pattern ends in a line break, so it only matches where one follows. Write `|-` in place of `|`."),
    "RB127": Code("list-for-pattern", "error", "`{list}` is a list, not a pattern. Write `{pattern}`."),
    # RB2xx: the shape
    "RB201": Code("unknown-key", "error", "I don't know `{key}` in {thing}.{guess}"),
    "RB202": Code("missing-key", "error", "{thing} needs `{key}`: {purpose}"),
    "RB203": Code("wrong-type", "error", "`{key}` must be {wanted}; this is {found}.{hint}"),
    "RB204": Code("not-a-choice", "error", "`{value}` isn't one of the choices for `{key}`: {choices}.{guess}"),
    "RB205": Code("out-of-range", "error", "`{key}` must be {wanted}; this is {value}."),
    "RB206": Code("not-a-list", "error", "`{key}` takes a list, even for one entry. Write `{list}`."),
    "RB207": Code("empty-list", "error", "`{key}` needs at least one entry."),
    "RB208": Code("two-kinds", "error", "A rule is exactly one kind; this has {kinds}. Join them with `all:` or `any:`."),
    "RB209": Code("no-kind", "error", "This rule doesn't say what to check.{guess}"),
    "RB210": Code("misplaced-key", "error", "`{key}` belongs {where}."),
    "RB211": Code("unsupported-version", "error", "{sentence}"),
    "RB213": Code("bad-id", "error", "A name here is small letters, digits and `_`, and starts with a letter; `{value}` isn't.{guess}"),
    "RB214": Code("bad-amount", "error", "I can't read `{value}` as {what}. Write it like {example}."),
    "RB215": Code("key-without-effect", "error", "`{key}` has no effect here: {why}"),
    "RB216": Code("empty-text", "error", "`{key}` is empty: {why}"),
    # RB3xx: names and files
    "RB301": Code("duplicate-id", "error", "Two {things} are called `{name}` (the other is on line {line})."),
    "RB302": Code("unknown-reference", "error", "`{name}` isn't defined here.{guess}"),
    "RB303": Code("circular-reference", "error", "These refer to each other in a circle: {circle}."),
    "RB304": Code("unused-definition", "warning", "`{name}` is defined but nothing uses it."),
    "RB305": Code("unknown-submission", "error", "This reads the submission `{name}`, but none is declared under that name.{guess}"),
    "RB307": Code("file-not-found", "error", "`{path}` doesn't exist, looking from {folder}."),
    "RB308": Code("path-leaves-folder", "error", "A path must stay inside {folder}; `{path}` {how}."),
    "RB309": Code("unknown-event-kind", "warning", "No known event is called `{name}`, so it may never be seen in a log.{guess}"),
    "RB311": Code("condition-syntax", "error", "{sentence}"),
    "RB312": Code("unmet-need", "error", "The pack `{pack}` needs {what} `{name}`, and this file doesn't declare it."),
    "RB313": Code("pattern-in-path", "warning", "`{value}` is taken literally: {what} stands for itself in a path. Write each path out."),
    # RB4xx: expressions, paths, templates, patterns
    "RB401": Code("expression-syntax", "error", "I got stuck here: {expected}."),
    "RB402": Code("other-language-operator", "error", "Write `{ours}` instead of `{theirs}`."),
    "RB403": Code("unknown-field", "error", "There is no `{field}` in {place}.{guess}"),
    "RB404": Code("hyphen-in-name", "error", "`{name}` is read as a subtraction. Did you mean `{best}`?"),
    "RB405": Code("unknown-function", "error", "There is no function `{name}`.{guess}"),
    "RB406": Code("wrong-arguments", "error", "`{name}` takes {wanted}; here it gets {found}."),
    "RB407": Code("kinds-dont-match", "error", "This {verb} {left} with {right}; {why}."),
    "RB408": Code("not-yes-or-no", "error", "This gives {found}, not {wanted}.{hint}"),
    "RB409": Code("always-same", "warning", "This is always {value}, whatever the session did."),
    "RB410": Code("may-be-missing", "warning", "`{field}` isn't in every {place}. Say what to do without it: `{example}`."),
    "RB411": Code("not-in-language", "error", "{what} isn't part of rule expressions.{hint}"),
    "RB412": Code("exact-decimal", "warning", "Decimals are rarely exactly equal. Use `{example}`."),
    "RB413": Code("path-syntax", "error", "I can't read this path from here: `{rest}`."),
    "RB414": Code("path-finds-nothing", "error", "`{step}` doesn't exist at this point of the path.{guess}"),
    "RB415": Code("dot-in-name", "error", "`{name}` has a dot in its name; write `['{name}']`."),
    "RB416": Code("unusual-path", "error", "{what} isn't part of rule paths; {instead}."),
    "RB417": Code("template-syntax", "error", "This template has a problem on its line {line}: {sentence}."),
    "RB418": Code("template-unknown-name", "error", "The template uses `{name}`, which isn't available here.{guess}"),
    "RB419": Code("template-not-allowed", "error", "{what} isn't allowed in templates.{hint}"),
    "RB420": Code("pattern-syntax", "error", "This pattern has a mistake at character {at}: {sentence}."),
    "RB421": Code("pattern-matches-anything", "warning", "This pattern also matches empty text, so it proves nothing."),
    "RB422": Code("loose-dot", "info", "`.` matches any character, so `{value}` also matches `{other}`. Write `{example}` for a real dot."),
    "RB423": Code("anchor-surprise", "warning", "`{anchor}` looks at the whole text, not at each line. Add `flags: [m]` if you mean lines."),
    "RB424": Code("engine-only-pattern", "error", "`{part}` doesn't exist in the re2 engine. Use `engine: python`, or rewrite it."),
    "RB425": Code("template-out-of-place", "error", "`{key}` isn't a template, so `{part}` would be taken literally. Templates are read in {where}."),
    "RB426": Code("slashes-in-pattern", "warning", "Slashes are part of the pattern here. Write `{pattern}`{flags}."),
    # RB5xx: checks and combinators
    "RB501": Code("command-as-text", "error", "A command is a list of words, not one line: `{example}`."),
    "RB502": Code("shell-signs", "warning", "`{sign}` isn't understood without a shell; it is passed on as plain text."),
    "RB503": Code("no-result-file", "error", "This command is scored by the file it writes, and `{word}` can't be its name. End the command with a bare name such as `score.json`, or write `{{{{ score_file }}}}` where its path belongs."),
    "RB505": Code("unreachable-judge", "warning", "This never runs: `{first}` before it always {does}."),
    "RB511": Code("model-not-named", "error", "Nothing says which model is asked here. {how}"),
    "RB513": Code("misbehavior-behind", "warning", "`{first}` can decide before the misbehaviour check behind it is reached. Put that check first."),
    "RB514": Code("judges-own-work", "warning", "`{model}` judges here and is the model of the run too, so that it judges its own work. Let another one judge."),
    "RB515": Code("said-twice", "error", "`{value}` stands in `{key}` twice. Keep one."),
    # RB6xx: scores, thresholds, reward
    "RB601": Code("bad-weight", "error", "A weight must be a number of 0 or more; this is {value}.{hint}"),
    "RB602": Code("weights-all-zero", "error", "All weights are 0, so there is no {what} to compute."),
    "RB603": Code("unknown-category", "error", "`{value}` isn't a category: model, harness, sandbox, fixture, policy, network, budget, test.{guess}"),
    "RB604": Code("harness-trains-model", "warning", "`harness` has weight {weight}: a broken log or grader would then change the model's reward."),
    "RB605": Code("never-passes", "warning", "The most this can score is {most}, below the {threshold} it must reach."),
    "RB606": Code("always-passes", "warning", "The least this can score is {least}, so {threshold} is always reached."),
    "RB607": Code("outside-0-1", "warning", "This can score {range}, and a finding's score lies in 0..1. Write `range: [{least}, {most}]`."),
    "RB609": Code("only-must-nots", "warning", "Every check here is a \"must not\", so an empty session would pass. Add one thing that must happen."),
    "RB610": Code("threshold-needed", "error", "`{kind}` has no pass mark of its own, and its pass decides something here. Write `threshold:` beside it."),
    "RB611": Code("nothing-to-check", "error", "This file checks nothing. Add `expect:`, `tests:` or `checks:`."),
    # RB7xx: safety and limits
    "RB701": Code("secret-in-file", "error", "This looks like a real key ({what}). Take it out of the file and revoke it."),
    "RB703": Code("session-text-in-prompt", "warning", "`{path}` is text of the student's, and the model would read it here as your own words. Show it under `{key}:`."),
    "RB704": Code("endless-pattern", "error", "This pattern can take practically forever on some texts: `{part}`. {hint}"),
    "RB705": Code("slow-pattern", "warning", "This pattern gets slow on long texts: {why}."),
    "RB706": Code("too-long-to-run", "error", "This {what} has {count} {parts}; the limit is {limit}."),
    "RB709": Code("agent-writable-config", "warning", "This test command also obeys files that the agent can write ({files}). Add `take:` to the test, or forbid them."),
    # RB8xx: evals and reproducibility
    "RB801": Code("moving-base", "warning", "`{value}` moves. Pin a tag or a full commit id so that runs stay comparable."),
    "RB802": Code("bad-digest", "error", "A SHA-256 is 64 characters 0–9 a–f; this has {found}."),
    "RB803": Code("half-provenance", "error", "`intervention` and `intervention_sha256` go together; `{key}` is missing."),
    "RB804": Code("split-leak", "error", "`{spec}` is used for both {first} and {second}."),
    "RB805": Code("groups-dont-fit", "error", "`group_size` {group} doesn't divide `rollouts` {rollouts}."),
    "RB806": Code("contradiction", "error", "`{value}` is both required and forbidden."),
    "RB807": Code("cost-without-currency", "error", "`{key}` needs {needs}."),
    "RB810": Code("unknown-column", "error", "No row has a column `{column}`.{guess}"),
    "RB811": Code("path-in-no-row", "warning", "No row has `{path}` in what is expected of it, so both sides lack it and agree everywhere."),
    "RB812": Code("label-not-in-rubric", "info", "The rubric never says what `{label}` means."),
    "RB815": Code("stale-card", "warning", "`{scorer}` is not the judge that was calibrated: its {what} changed since. Run  {command}"),
    "RB816": Code("no-card", "warning", "The card `{card}` {why}. Run  {command}"),
}  # fmt: skip


def message_of(code: str, words: Mapping[str, object]) -> str:
    """The sentence of `code` with its blanks filled from `words`; `guess` and `hint` may be missing there."""
    return CODES[code].message.format(**{"guess": "", "hint": "", **words})


def is_like_a_code(word: str) -> bool:
    """Whether a word has the shape of a code, so that the nearest code would be any code at all."""
    letters = word.rstrip("0123456789")
    return letters != word and letters.isalpha() and len(letters) <= 2


def code_named(word: str) -> str | None:
    """The code for a code or its name in any case (`rb403`, `unknown-field`), or None."""
    if word.upper() in CODES:
        return word.upper()
    return next((code for code, entry in CODES.items() if entry.name == word.lower()), None)
