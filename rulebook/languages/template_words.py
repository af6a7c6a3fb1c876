"""The mistakes that Jinja2 finds in a template, in sentences that say what to write."""

import re


def in_words(message: str) -> str:
    """The sentence for one of Jinja2's messages; a general one for a message that this table has not met."""
    for told, sentence in _SENTENCES:
        found = re.match(told, message, re.DOTALL)
        if found:
            return sentence.format(*(part and part.replace("end of print statement", "}}") for part in found.groups()))
    return "it cannot be read; compare its braces with `{{ name }}` and `{% if name %}…{% endif %}`"


_SENTENCES = (
    (r"Encountered unknown tag '(end\w+)'", "`{{% {0} %}}` closes nothing"),
    (r"Encountered unknown tag 'else'", "`{{% else %}}` stands outside an `if` or a `for`"),
    (r"Encountered unknown tag '(.+?)'", "there is no `{{% {0} %}}`; templates know `if` and `for`"),
    (r"Unexpected end of template\. Jinja was looking for.*'(end\w+)'", "`{{% {0} %}}` is missing"),
    (r"Unexpected end of template", "it ends inside a block that is never closed"),
    (r"unexpected end of template, expected '(.+?)'", "it ends where `{0}` was expected"),
    (r"unexpected end of template", "it ends inside a `{{{{` or `{{%` that is never closed"),
    (r"Missing end of comment tag", "this `{{#` is never closed; add `#}}`"),
    (r"Missing end of raw directive", "`{{% endraw %}}` is missing"),
    (r"expected token '(.+?)', got '(.+?)'$", "I expected `{0}` where `{1}` stands"),
    (r"unexpected '(.+?)', expected '(.+?)'", "I expected `{1}` where `{0}` stands"),
    (r"unexpected '(.+?)'", "I did not expect `{0}` there"),
    (r"unexpected char '(.+?)'", "I cannot read the sign `{0}` there"),
    (
        r"Expected an expression, got '(.+?)'",
        "a name is missing before the end, as in `{{{{ params.name }}}}`",
    ),
    (r"can't assign to", "this name cannot be used for the items of a loop"),
    (r"tag name expected", "a word like `if` or `for` is missing after `{{%`"),
    (r"(.+) not found|No (filter|test) named", "this name is not known in templates"),
)
