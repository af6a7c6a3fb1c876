"""How the labels of a judge are compared."""


def normal_label(label: str) -> str:
    """A label without blanks and full stops at its ends, in capital letters: how labels are compared, as a whole."""
    return label.strip().strip(".").strip().upper()
