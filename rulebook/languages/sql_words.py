"""What an SQL expression of a scorer may be made of: the functions, the types and the shapes of its tree.

An allow-list: what is not named here is refused. Left out on purpose: everything that reaches outside the row (files,
settings, the environment, the clock, chance, other tables), everything that makes many rows or one value out of many,
and everything by which a short expression grows a text without end (`repeat`, `lpad`, `printf`, `hex`).
"""

from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


MAX_CHARACTERS = 4_000
"""How long an expression may be. Source: scorers-facts, sql."""

MAX_TEXTS = 40
"""How many functions of an expression may make a text or a list: each holds its own for a whole batch of rows."""

_NUMBERS = """
    + - * / // % ** ^ @ & | << >> ~ abs ceil ceiling floor round round_even trunc sign sqrt cbrt exp ln log log2 log10
    pow power mod fmod fdiv divide add subtract multiply greatest least gcd lcm even isnan isinf isfinite sin cos tan
    asin acos atan atan2 sinh cosh tanh degrees radians pi bit_count xor
"""
_TEXTS = """
    || concat length len strlen char_length character_length bit_length octet_length lower lcase upper ucase
    trim ltrim rtrim substr substring substring_grapheme left right left_grapheme right_grapheme length_grapheme
    contains starts_with ^@ ends_with prefix suffix instr strpos position reverse replace translate strip_accents
    nfc_normalize ascii unicode ord chr md5 sha1 sha256 string_split str_split split split_part
    string_split_regex regexp_split_to_array str_split_regex
"""
_PATTERNS = """
    ~~ !~~ ~~* !~~* like_escape not_like_escape ilike_escape not_ilike_escape regexp_matches regexp_full_match
    regexp_extract regexp_extract_all regexp_replace
"""
_JSON = """
    ->> json_extract json_extract_path json_extract_string json_extract_path_text json_value json_valid json_type
    json_array_length json_exists json_keys
"""
_PARTS = """
    array_length cardinality list_contains array_contains list_has array_has list_position array_position
    list_indexof list_has_any list_has_all array_has_any array_has_all list_extract list_element array_extract
    list_value list_distinct list_unique list_sort array_sort list_reverse_sort list_sum list_avg list_min list_max
    list_slice array_slice struct_extract struct_extract_at map_extract map_extract_value element_at map_keys map_values
"""
_TIMES = """
    date_part datepart date_diff datediff date_trunc datetrunc date_sub datesub strptime try_strptime epoch epoch_ms
    epoch_us year month day hour minute second millisecond microsecond quarter week weekday dayofweek dayofmonth
    dayofyear isodow yearweek last_day make_date make_timestamp to_timestamp
"""
_CHOICES = "nullif if typeof"

FUNCTIONS = words(" ".join((_NUMBERS, _TEXTS, _PATTERNS, _JSON, _PARTS, _TIMES, _CHOICES)))
"""Every function and operator that an expression may use, in small letters."""

TEXT_MAKERS = words(
    "|| concat lower lcase upper ucase trim ltrim rtrim substr substring substring_grapheme left right "
    "left_grapheme right_grapheme reverse replace translate strip_accents nfc_normalize string_split str_split split "
    "split_part string_split_regex regexp_split_to_array str_split_regex regexp_extract regexp_extract_all "
    "regexp_replace json_extract json_extract_path json_extract_string json_extract_path_text json_value ->> json_keys "
    "list_value list_distinct list_sort array_sort list_reverse_sort list_slice array_slice"
)
"""The functions that make a text or a list."""

TYPES = words(
    """
    BOOLEAN BOOL LOGICAL TINYINT INT1 SMALLINT INT2 SHORT INTEGER INT INT4 SIGNED BIGINT INT8 LONG HUGEINT INT128
    UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT UINT8 UINT16 UINT32 UINT64 INT16 INT32 INT64 FLOAT FLOAT4 REAL DOUBLE
    FLOAT8 DECIMAL DEC NUMERIC VARCHAR CHAR BPCHAR TEXT STRING NVARCHAR DATE TIME TIMESTAMP DATETIME JSON UUID
    """
)
"""The types that a CAST may name. Times with a zone are left out: what they say hangs on a setting."""

NUMBER_TYPES = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
"""What the value of an expression may be."""

TYPE_WORDS: Mapping[str, str] = {
    "BOOLEAN": "yes or no",
    "VARCHAR": "a text",
    "JSON": "a piece of JSON",
    "DATE": "a date",
    "TIME": "a time",
    "TIMESTAMP": "a moment",
    "INTERVAL": "a span of time",
    '"NULL"': "nothing at all",
    "BLOB": "bytes",
}
"""What the other types are in an author's words."""

OPERATORS: Mapping[str, str] = {
    "OPERATOR_NOT": "NOT",
    "OPERATOR_IS_NULL": "IS NULL",
    "OPERATOR_IS_NOT_NULL": "IS NOT NULL",
    "COMPARE_IN": "IN",
    "COMPARE_NOT_IN": "NOT IN",
    "OPERATOR_COALESCE": "COALESCE",
    "OPERATOR_NULLIF": "NULLIF",
    "OPERATOR_TRY": "TRY",
    "ARRAY_EXTRACT": "[…]",
    "ARRAY_SLICE": "[…:…]",
    "STRUCT_EXTRACT": ".",
    "ARRAY_CONSTRUCTOR": "[…]",
}
"""The operators that the tree names by a type of their own."""

COMPARISONS = words(
    "COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO "
    "COMPARE_GREATERTHANOREQUALTO COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM"
)

REFUSED: Mapping[str, str] = {
    "SUBQUERY": "A query inside the expression",
    "STAR": "`*`, which means every column,",
    "WINDOW": "A window over several rows",
    "PARAMETER": "A parameter",
    "LAMBDA": "A function with `lambda`",
    "DEFAULT": "`DEFAULT`",
    "POSITIONAL_REFERENCE": "A column by its number",
    "COLLATE": "`COLLATE`",
    "TYPE": "A type by itself",
}
"""Classes of nodes that people try, in words."""

ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        words(
            "sum avg mean count min max median mode stddev variance first last any_value arg_max arg_min string_agg "
            "list array_agg histogram quantile unnest row_number rank lag lead"
        ),
        " It reads many rows, and a scorer sees one. A list in a cell has `list_sum`, `list_avg`, `list_max`.",
    ),
    **dict.fromkeys(
        words("levenshtein editdist3 damerau_levenshtein jaccard jaro_similarity jaro_winkler_similarity hamming"),
        " The scorers `levenshtein` and `string_similarity` compare texts.",
    ),
    **dict.fromkeys(
        words(
            "read_text read_blob read_csv read_csv_auto read_json read_json_auto read_ndjson read_parquet parquet_scan "
            "glob "
            "getenv now today current_date current_timestamp get_current_time random uuid gen_random_uuid setseed "
            "nextval currval current_setting getvariable query query_table version current_user current_database "
            "current_schema "
            "txid_current pg_sleep sleep_ms age write_log error in_search_path"
        ),
        " A scorer sees one row: no clock, no chance, no file, no setting and no other row.",
    ),
    **dict.fromkeys(
        words(
            "concat_ws repeat lpad rpad printf format bar hex to_hex base64 to_base64 url_encode regexp_escape to_json "
            "json_quote json_object json_array range generate_series list_transform list_filter list_reduce apply"
        ),
        " A short expression could fill the memory with it.",
    ),
    "json_contains": " Deep JSON ends the whole program in it. `list_contains(json_keys(…), …)` looks for a key.",
}
"""Functions that people reach for and that are left out on purpose, each with the reason."""
