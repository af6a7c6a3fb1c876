"""What stands around, and what is left out of, material that a judge model is shown."""

import hashlib
from collections.abc import Callable, Mapping

WINDOW_CHARACTERS = 256 * 1024
"""How much of the material a model is shown where nobody says how much."""

SMALLEST_WINDOW = 1024
"""Less than this is not shown: a model that takes no more judges nothing."""


def fence_for(draw: Callable[[], str], text: str) -> str:
    """A mark that stands nowhere in `text`."""
    while True:
        mark = f"=====[{draw()}]====="
        if mark not in text:
            return mark


def window_of(material: str, size: int) -> str:
    """The material, or its beginning and its end with a note between them that says what is left out."""
    if len(material) <= size:
        return material
    head = size // 2
    left_out = len(material) - size
    note = f"\n\n[… {left_out} of {len(material)} characters are left out here …]\n\n"
    return material[:head] + note + material[len(material) - (size - head) :]


def about_material(material: str, window: int) -> Mapping[str, object]:
    """What the metadata says of the material: its size, its digest, and how much of it was shown."""
    digest = hashlib.sha256(material.encode("utf-8", "surrogatepass")).hexdigest()
    about: dict[str, object] = {"characters": len(material), "sha256": digest}
    return {**about, "shown": window, "left_out": len(material) - window} if window < len(material) else about
