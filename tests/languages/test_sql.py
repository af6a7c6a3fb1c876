"""SQL expressions of scorers: what is taken, what is refused with which words, and what each gives."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from rulebook.codes import message_of
from rulebook.errors import UsageError
from rulebook.languages.sql import columns_read, sql_faults
from rulebook.services.sql_scores import SqlScorer
from rulebook.services.tables import DuckTables, engine_error, locked_connection

COLUMNS = {"output": "VARCHAR", "expected": "VARCHAR", "n": "BIGINT", "x": "DOUBLE", "doc": "JSON"}
ATTACKS = yaml.safe_load((Path(__file__).parent / "sql_attacks.yaml").read_text("utf-8"))
NESTED, SPLIT = "output", "output"
for _ in range(6):
    NESTED, SPLIT = f"CAST([{NESTED}] AS VARCHAR)", f"CAST(string_split({SPLIT}, '') AS VARCHAR)"
LONG = {"NESTED": NESTED, "SPLIT": SPLIT, "LONG": "1" + " + 1" * 1_000, "JOINED": "output" + " || output" * 41, "LOWERED": " + ".join(["length(lower(output))"] * 41)}
REFUSED = [(code, re.sub("NESTED|SPLIT|LONG|JOINED|LOWERED", lambda found: LONG[found[0]], text)) for code, texts in ATTACKS.items() for text in texts]
TABLES = DuckTables()

TAKEN = [
    """CASE WHEN "output" IS NOT NULL AND "output" <> '' THEN 1.0 ELSE 0.0 END""",
    "CASE WHEN output = 'a;b' THEN 1 ELSE 0 END",
    "n", "x / 2", "n + 1.5", "-n", "n % 2", "2 ** n", "abs(n)", "TRY(n)", "TRY_CAST(output AS DOUBLE)",
    "CAST(json_extract_string(output, '$.amount') AS DOUBLE)", "CAST(doc->>'$.a' AS DOUBLE)", "CAST(doc->'$.a' AS DOUBLE)",
    "CASE n WHEN 1 THEN 0.5 WHEN 2 THEN 1 END", "if(n > 1, 1, 0)", "coalesce(x, 0)", "nullif(n, 1)", "greatest(0, least(1, x))",
    "CAST(output LIKE '%;%' AS INTEGER)", "CAST(output ILIKE '%a_c%' AS INTEGER)", "CAST(output LIKE '50!%' ESCAPE '!' AS INTEGER)",
    "CAST(contains(lower(output), lower(expected)) AS INTEGER)", "len(string_split(string_split(output, ';')[1], '='))",
    "len(json_extract(doc, ['$.a', '$.b']))", "len(json_extract(doc, '$..a'))", "CAST(doc->0->-1->>'a' AS DOUBLE)", "len(json_keys(doc, '$.a'))",
    "CAST(list_contains(json_keys(doc), expected) AS INTEGER)",
    "CAST(output SIMILAR TO 'a+' AS INTEGER)", "CAST(regexp_matches(output, '^a') AS INTEGER)",
    "length(regexp_replace(output, '[0-9]', '', 'g'))", "CAST(replace(output, ',', '') AS DOUBLE)",
    "CAST(n IN (1, 2) AS INTEGER)", "CAST(n BETWEEN 1 AND 2 AS INTEGER)", "CAST(n IS DISTINCT FROM 1 AS INTEGER)",
    "len(string_split(output, ' '))", "length(trim(BOTH 'x' FROM output))", "position('a' IN output)",
    "date_diff('day', CAST(output AS DATE), DATE '2026-01-01')", "extract(year FROM CAST(output AS DATE))",
    "json_array_length(doc, '$.items')", "CAST(json_valid(output) AS INTEGER)", "1 -- why", "/* why */ 1",
    'CAST("Output" = \'x\' AS INTEGER)', "CAST(n AS DECIMAL(10, 2))", "n /* ) */ + (1)",
]  # fmt: skip


@pytest.mark.parametrize("text", TAKEN)
def test_an_expression_over_a_row_is_taken(text):
    assert [(f.code, message_of(f.code, f.words)) for f in sql_faults(text, TABLES, COLUMNS)] == []
    assert sql_faults(text, TABLES) == ()


@pytest.mark.parametrize(("code", "text"), REFUSED)
def test_an_attack_is_refused_before_anything_runs(code, text):
    faults = sql_faults(text, TABLES, COLUMNS)
    assert code in [fault.code for fault in faults], faults
    for fault in faults:
        assert "{" not in message_of(fault.code, fault.words).replace("{'a'", "")
        assert 0 <= fault.start <= len(text)
        assert fault.end is None or fault.start <= fault.end <= len(text)
    with pytest.raises(UsageError, match="The SQL expression can't be used"):
        SqlScorer(text, COLUMNS)


def test_there_are_attacks_enough():
    assert len({text for _, text in REFUSED}) >= 200


@pytest.mark.parametrize("text", ["current_date", "current_user", "rowid", "now()", "(SELECT 1)", "1; 2", "localtimestamp"])
def test_what_reaches_outside_is_refused_though_nobody_knows_the_columns(text):
    assert sql_faults(text, TABLES) != ()


LOCKED = [
    "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM glob('/etc/*')", "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'", "COPY (SELECT 1) TO '/tmp/rulebook-leak.csv'", "ATTACH '/tmp/rulebook-leak.db'",
    "INSTALL httpfs", "LOAD '/tmp/x.duckdb_extension'", "SET threads = 8", "SET enable_external_access = true",
    "SET lock_configuration = false", "RESET memory_limit", "SET allowed_paths = ['/etc/passwd']", "SET temp_directory = '/tmp'",
    "SELECT getenv('HOME')", "SELECT * FROM COLUMNS", "SELECT secret_of_the_caller FROM secret_of_the_caller",
    "CREATE PERSISTENT SECRET s (TYPE http)", "EXPORT DATABASE '/tmp/rulebook-leak'",
]  # fmt: skip


@pytest.mark.parametrize("statement", LOCKED)
def test_the_connection_itself_reaches_nothing(statement):
    secret_of_the_caller = pa.table({"a": [1]})
    assert secret_of_the_caller.num_rows == 1
    connection = locked_connection()
    try:
        with pytest.raises(engine_error()):
            connection.execute(statement).fetchall()
    finally:
        connection.close()


class Tampering:
    """An engine whose parser finds more in a query than the expression."""

    def __init__(self, more):
        self.more = more

    def sql_tree(self, query):
        return TABLES.sql_tree(query + self.more if query.startswith("SELECT (") else query)


@pytest.mark.parametrize(
    "more",
    [" WHERE true", " GROUP BY ALL", " HAVING true", " QUALIFY true", " LIMIT 1", " ORDER BY 1", "; SELECT 2", " AS other", ", range(3)",
     " TABLESAMPLE 10%", " UNION ALL SELECT 1"],
)  # fmt: skip
def test_a_query_that_is_more_than_the_expression_is_refused(more):
    assert sql_faults("n", TABLES) == ()
    (fault,) = sql_faults("n", Tampering(more))
    assert message_of(fault.code, fault.words) == "I got stuck here: a scorer is one value, and no query."


def test_a_connection_that_may_read_one_file_reads_no_other(tmp_path):
    for name in ("mine.csv", "other.csv"):
        (tmp_path / name).write_text("a\n1\n", encoding="utf-8")
    connection = locked_connection(str(tmp_path / "mine.csv"))
    try:
        assert connection.execute(f"SELECT a FROM read_csv('{tmp_path}/mine.csv')").fetchall() == [(1,)]
        for query in (f"SELECT * FROM read_csv('{tmp_path}/other.csv')", f"SELECT * FROM read_csv('{tmp_path}/*.csv')",
                      f"SELECT * FROM read_csv('{tmp_path}/sub/../other.csv')", "SELECT * FROM read_text('/etc/hostname')",
                      f"COPY (SELECT 1) TO '{tmp_path}/new.csv'"):  # fmt: skip
            with pytest.raises(engine_error()):
                connection.execute(query).fetchall()
    finally:
        connection.close()


WORDS = [
    ("outptu", "RB403", "There is no `outptu` in the columns of the rows. Did you mean `output`?", (0, 6)),
    (" n + outptu", "RB403", "There is no `outptu` in the columns of the rows. Did you mean `output`?", (5, 11)),
    ("length('é' || outptu)", "RB403", "There is no `outptu` in the columns of the rows. Did you mean `output`?", (14, 20)),
    ("CASE WHEN output = \"yes\" THEN 1 END", "RB403", "A text is written in single quotes: 'yes'.", (19, 24)),
    ("lenght(output)", "RB405", "There is no function `lenght`. Did you mean `length`?", (0, 14)),
    ("sum(n)", "RB405", "It reads many rows, and a scorer sees one.", (0, 6)),
    ("n + CAST(regexp_matches(output, '(a') AS INTEGER)", "RB401", "the pattern is none: missing ): (a", (32, 36)),
    ("n > 1", "RB408", "This gives yes or no, not a number. Write `CASE WHEN … THEN 1.0 ELSE 0.0 END`.", (0, None)),
    ("output", "RB408", "This gives a text, not a number. Write `CAST(… AS DOUBLE)`, or compare it with something.", (0, None)),
    ("1; SELECT 2", "RB401", "I got stuck here: `;` ends a statement, and a scorer is one value.", (1, 2)),
    ("n +", "RB401", "I got stuck here: something is missing at the end.", (2, None)),
    ("   ", "RB216", "`expression` is empty:", (0, None)),
    ("abs(output)", "RB401", "no function matches the given name and argument types 'abs(VARCHAR)'", (0, None)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words", "place"), WORDS)
def test_a_mistake_is_told_in_words_and_in_its_place(text, code, words, place):
    (fault,) = sql_faults(text, TABLES, COLUMNS)
    assert fault.code == code
    assert words in message_of(fault.code, fault.words)
    assert (fault.start, fault.end) == place


@pytest.mark.parametrize("text", ["abs(" * 300 + "1" + ")" * 300, "[" * 300 + "1" + "]" * 300, "1" + " + 1" * 300])
def test_an_expression_is_nested_only_so_deep(text):
    (fault,) = sql_faults(text, TABLES, COLUMNS)
    assert "expression depth limit of 200" in message_of(fault.code, fault.words)


def test_columns_that_sql_takes_for_one_are_told():
    (fault,) = sql_faults("n", TABLES, {"n": "BIGINT", "N": "BIGINT"})
    assert "differ only in capital letters" in message_of(fault.code, fault.words)


def test_the_columns_that_it_reads_are_known():
    assert columns_read("n + length(\"Output\") /* x */", TABLES, COLUMNS) == {"n", "output"}
