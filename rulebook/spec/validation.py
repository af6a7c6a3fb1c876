"""Plain options become typed objects, and pydantic's errors become diagnostics in our own words.

No sentence of the validator's ever reaches an author: one table turns its error types into codes.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast, get_origin

from pydantic import BaseModel, ValidationError

from rulebook.languages.faults import Fault, Shown
from rulebook.place import Path
from rulebook.source.located import EmptyZon
from rulebook.spec.reader import Reader, in_words
from rulebook.spelling import guess, listed, nearest

Model = TypeVar("Model", bound=BaseModel)

Place = Callable[[tuple[int | str, ...]], Path]
"""Turns a path below a model into a path of the document."""


def below(path: Path) -> Place:
    """The place of a model whose options stand at `path`."""
    return lambda loc: (*path, *loc)


def validate_options(
    model: type[Model], options: Mapping[str, object], thing: str, place: Place, reader: Reader
) -> Model | None:
    """`options` as a `model`; None, with every problem noted, when they are not valid. `thing` names it in messages."""
    try:
        return model.model_validate(_lists_of_zon(model, options), context={"file": reader.document.file})
    except ValidationError as error:
        errors = [cast("dict[str, Any]", dict(e)) for e in error.errors(include_url=False)]
        for entry in _typos_merged(errors, reader, thing, place):
            _note(entry, model, thing, place, reader)
        return None


def _lists_of_zon(model: type[BaseModel], options: Mapping[str, object]) -> Mapping[str, object]:
    if EmptyZon not in map(type, options.values()):
        return options
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    return {
        key: () if isinstance(value, EmptyZon) and key in fields and _is_list(fields[key].annotation) else value
        for key, value in options.items()
    }


def _is_list(annotation: object) -> bool:
    options = getattr(annotation, "__args__", ()) if get_origin(annotation) is not tuple else ()
    return get_origin(annotation) in (tuple, list) or any(get_origin(o) in (tuple, list) for o in options)


def _typos_merged(errors: list[dict[str, Any]], reader: Reader, thing: str, place: Place) -> list[dict[str, Any]]:
    """Say a misspelt key once: it is unknown, and the key it stands for is then missing."""
    kept = list(errors)
    for extra in [e for e in errors if e["type"] == "extra_forbidden"]:
        missing = [e for e in kept if e["type"] == "missing" and e["loc"][:-1] == extra["loc"][:-1]]
        written, names = str(extra["loc"][-1]), [str(e["loc"][-1]) for e in missing]
        meant = nearest(written, names) or _usual(written, names)
        if meant is None:
            continue
        kept = [e for e in kept if e is not extra and not (e in missing and e["loc"][-1] == meant)]
        path = place(extra["loc"])
        holder = _holder(thing, extra["loc"], place)
        reader.add_at_key("RB201", path, key=path[-1], thing=holder, guess=f" Did you mean `{meant}`?")
    return kept


def _holder(thing: str, loc: tuple[int | str, ...], place: Place) -> str:
    """What the last key of `loc` stands in: `thing` itself, or a mapping within it."""
    path = place(loc)[:-1]
    if len(loc) < 2 or not path:
        return thing
    key = next((step for step in reversed(path) if isinstance(step, str)), None)
    return thing if key is None else f"an entry of `{key}`" if isinstance(path[-1], int) else f"`{key}`"


def _usual(word: str, known: Collection[str]) -> str | None:
    """The one of `known` keys that other tools call `word`."""
    from rulebook.spec.advice import ELSEWHERE  # only a mistake pays for it

    return next((key for key in ELSEWHERE.get(word, ()) if key in known), None)


def _note(entry: dict[str, Any], model: type[BaseModel], whole: str, place: Place, reader: Reader) -> None:
    kind, loc = entry["type"], entry["loc"]
    thing = _holder(whole, loc, place)
    path = place(loc)
    key = str(next((step for step in reversed(loc) if isinstance(step, str)), thing))
    if kind == "rulebook_language":
        for fault in cast("tuple[Fault, ...]", entry["ctx"]["faults"]):
            reader.add_fault(fault, place((*loc, *fault.path)))
    elif kind == "extra_forbidden":
        known = _keys_of(_model_at(model, loc))
        usual = _usual(key, known)
        if usual is None and len(loc) > 1 and key in _keys_of(model):
            example = reader.shown(Shown({str(loc[0]): "…", key: "…"}, whole.strip("`")))
            reader.add_at_key("RB210", path, key=key, where=f"inside {whole}: write `{example}`")
            return
        hint = f" Did you mean `{usual}`?" if usual else guess(key, known)
        reader.add_at_key("RB201", path, key=key, thing=thing, guess=hint)
    elif kind == "missing":
        field = next((f for n, f in _model_at(model, loc).model_fields.items() if (f.alias or n) == key), None)
        purpose = _in_a_sentence(field.description if field and field.description else "it says what to check.")
        reader.add_at_key("RB202", path[:-1], thing=thing[0].upper() + thing[1:], key=key, purpose=purpose)
    else:
        named = str(next((step for step in reversed(path) if isinstance(step, str)), thing))
        code, words = worded(kind, entry.get("ctx", {}), named, entry["input"])
        if code == "RB206":
            words["list"] = reader.list_of(path)
        if code == "RB203":
            if words["wanted"] == _MAPPING:
                _note_no_mapping(_model_at(model, (*loc, "")), entry["input"], path, str(words["key"]), reader)
                return
            _note_wrong_value(kind, thing, entry["input"], path, words, reader)
        else:
            reader.add_words(code, path, words)


def _in_a_sentence(purpose: str) -> str:
    """What an option is for, as it stands behind a colon."""
    return purpose[0].lower() + purpose[1:] if purpose[1:2].islower() or purpose[1:2] == " " else purpose


def _note_wrong_value(
    kind: str, thing: str, value: object, path: Path, words: dict[str, object], reader: Reader
) -> None:
    from rulebook.spec.advice import advice_for  # only a mistake pays for it

    kind = "string_type" if words["wanted"] == "text" else kind
    advice = advice_for(kind, thing, value, reader.source_of(path), reader.language)
    reader.add_words("RB203", path, {**words, "hint": advice.hint}, advice.mended)


def _note_no_mapping(model: type[BaseModel], value: object, path: Path, key: str, reader: Reader) -> None:
    """Note that something else stands where a `model` should; what fits its required keys is shown under them."""
    needed = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    given = value if isinstance(value, list) else [value]
    fits = bool(needed) and len(given) == len(needed) and all(isinstance(one, str) and len(one) <= 60 for one in given)
    shown = reader.shown(Shown(dict(zip(needed, given, strict=True)), key)) if fits else ""
    if not fits and needed and isinstance(value, str) and isinstance(path[-1], int):
        shown = reader.shown(Shown({needed[0]: value, **dict.fromkeys(needed[1:], "…")}))
    reader.not_a_mapping(path, key, _MAPPING, f" Write `{shown}`." if shown else "")


def worded(kind: str, context: Mapping[str, Any], key: str, value: object) -> tuple[str, dict[str, object]]:
    """The code and the words for one of pydantic's error types. Raises KeyError for one without words of ours."""
    found = in_words(value)
    if kind in _WANTED:
        if kind in ("tuple_type", "list_type") and not isinstance(value, dict | None):
            return "RB206", {"key": key, "list": value}
        return "RB203", {"key": key, "wanted": _WANTED[kind], "found": found}
    if kind in _BOUNDS:
        wanted = _BOUNDS[kind].format(**context)
        return "RB205", {"key": key, "wanted": wanted, "value": _shown(value)}
    if kind == "literal_error":
        choices = [c.strip("'") for c in str(context["expected"]).replace(" or ", ", ").split(", ")]
        shown = _shown(value)
        return "RB204", {
            "key": key,
            "value": shown,
            "choices": listed(choices),
            "guess": f" Did you mean `{best}`?" if (best := nearest(shown, choices)) else "",
        }
    if kind == "too_short":
        return "RB207", {"key": key}
    if kind == "string_too_short":
        return "RB216", {"key": key, "why": "write what it should be, or leave the key out."}
    if kind == "string_pattern_mismatch":
        return "RB213", {"value": _shown(value), "guess": ""}
    if kind == "rulebook_wrong_type":
        return "RB203", {"key": key, "wanted": context["wanted"], "found": found}
    raise KeyError(kind)


_MAPPING = "a mapping (keys and values)"

_WANTED: dict[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "none_required": "nothing",
}

_BOUNDS: dict[str, str] = {
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    "finite_number": "an ordinary number",
    "too_long": "a list of at most {max_length} entries",
    "string_too_long": "text of at most {max_length} characters",
}


def _keys_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The model whose field the last step of `loc` is."""
    for step in loc[:-1]:
        if isinstance(step, int):
            continue
        field = next((f for n, f in model.model_fields.items() if (f.alias or n) == step), None)
        inner = _model_within(field.annotation) if field else None
        if inner is None:
            return model
        model = inner
    return model


def _model_within(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in getattr(annotation, "__args__", ()) if (m := _model_within(a)) is not None), None)


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
