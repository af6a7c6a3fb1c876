"""What stops a path or a template while it runs. Whoever runs it says whose failure that is."""


class SelectLimit(Exception):
    """A path met more values, or deeper ones, than it may."""


class TemplateError(Exception):
    """A template that could not be filled in. The caller says whose failure that is."""


class MissingInTemplate(TemplateError):
    """A value that the template reads is not there. `what` is its dotted path."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"`{what}` has no value")


class TemplateLimit(TemplateError):
    """A template went over one of its limits: too many items, or too much text."""


class TemplateMismatch(TemplateError):
    """A value is of a kind that the template cannot use where it stands."""
