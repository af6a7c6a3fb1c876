"""The rule files that `rulebook new` writes: commented, and clean under `rulebook lint`."""

EVAL_YAML = """\
# yaml-language-server: $schema=chock.eval.schema.json
# What one session of a coding agent must have done. Write the schema file for your editor with
#   rulebook schema chock.eval > chock.eval.schema.json
# and check a recorded session with
#   rulebook eval check {file} --session SESSION --project FOLDER
schema: chock.eval
version: 1
name: {name}
task: Say here what the agent is asked to do.

# Each line is a finding of its own. `rulebook explain` lists what else can stand here.
expect:
  end_reason: finished            # the agent said it was done
  max_turns: 40
  required_paths: [README.md]     # files that must be there at the end
  forbidden_paths: [secrets.txt]

# Named rules of your own. `why` is shown to people when the rule fails.
checks:
  says_what_it_did:
    regex: {{patterns: ['(?i)\\b(added|changed|fixed)\\b'], from: final_message}}
    why: The last message must say what was done.

# Commands that are run in the resulting repository: lists of words, without a shell.
# tests:
#   - {{name: unit, argv: [python, -m, pytest, -q], take: ['src/**']}}

# What each category counts in the reward; 1 where none is written, and 0 is shown but counts nothing.
reward_weights: {{harness: 0, model: 2}}
"""

EVAL_ZON = """\
// What one session of a coding agent must have done. Check a recorded session with
//   rulebook eval check {file} --session SESSION --project FOLDER
.{{
    .schema = "chock.eval",
    .version = 1,
    .name = "{name}",
    .task = "Say here what the agent is asked to do.",

    // Each line is a finding of its own. `rulebook explain` lists what else can stand here.
    .expect = .{{
        .end_reason = "finished", // the agent said it was done
        .max_turns = 40,
        .required_paths = .{{"README.md"}}, // files that must be there at the end
        .forbidden_paths = .{{"secrets.txt"}},
    }},

    // Named rules of your own. `why` is shown to people when the rule fails.
    .checks = .{{
        .says_what_it_did = .{{
            .regex = .{{ .patterns = .{{"(?i)\\\\b(added|changed|fixed)\\\\b"}}, .from = "final_message" }},
            .why = "The last message must say what was done.",
        }},
    }},

    // What each category counts in the reward; 1 where none is written, and 0 is shown but counts nothing.
    .reward_weights = .{{ .harness = 0, .model = 2 }},
}}
"""

TASK_YAML = """\
# yaml-language-server: $schema=rulebook.task.schema.json
# Steps that a student works through, each ended by a judge. Write the schema file for your editor with
#   rulebook schema rulebook.task > rulebook.task.schema.json
# See that nobody is rewarded for nothing, play it with a command as the student, or score recorded work with
#   rulebook task probe {file}
#   rulebook task run {file} --student 'python3 student.py'
#   rulebook task score {file} --transcript SESSION --submissions FOLDER
schema: rulebook.task
version: 1
name: {name}

# What instructions and rules can read; a caller sets one with --param, a row of `cases:` sets several.
params:
  use_hints: {{type: boolean, default: false}}
  answer: {{type: string, default: '42'}}

limits: {{turns: 40, step_time: 15m}}

steps:
  - name: answer
    instructions: |
      Work out six times seven and write the number to {{{{ submissions.answer.write_to }}}}.
    hints: [It is less than fifty.]
    # What is handed in is copied before it is judged; what breaks a limit is misbehaviour.
    submissions:
      answer: {{path: answer.txt, max_bytes: 1 KiB}}
    # A rule, or a condition over named rules. `rulebook explain` lists what else can stand here.
    judge:
      exact_match: {{from: {{submission: answer}}, expected: '{{{{ params.answer }}}}'}}
      why: The file must hold the number and nothing else.
    # Right work, with which `rulebook task probe` sees that the judge lets it pass.
    oracle: {{hand_in: {{answer: '{{{{ params.answer }}}}'}}}}

  - name: explain
    instructions: Say in one sentence how you worked it out.
    judge:
      regex: {{patterns: ['(?i)\\b(times|multipl|product)'], from: final_message}}
    oracle: {{say: I multiplied six by seven.}}

# How the steps' scores make one: last, sum, mean, min, max, weighted, or an expression over `steps`.
score: mean
"""

TASK_ZON = """\
// Steps that a student works through, each ended by a judge.
// See that nobody is rewarded for nothing, play it with a command as the student, or score recorded work with
//   rulebook task probe {file}
//   rulebook task run {file} --student 'python3 student.py'
//   rulebook task score {file} --transcript SESSION --submissions FOLDER
.{{
    .schema = "rulebook.task",
    .version = 1,
    .name = "{name}",

    // What instructions and rules can read; a caller sets one with --param, a row of `cases` sets several.
    .params = .{{
        .use_hints = .{{ .type = "boolean", .default = false }},
        .answer = .{{ .type = "string", .default = "42" }},
    }},

    .limits = .{{ .turns = 40, .step_time = "15m" }},

    .steps = .{{
        .{{
            .name = "answer",
            .instructions = "Work out six times seven and write the number to {{{{ submissions.answer.write_to }}}}.",
            .hints = .{{"It is less than fifty."}},
            // What is handed in is copied before it is judged; what breaks a limit is misbehaviour.
            .submissions = .{{ .answer = .{{ .path = "answer.txt", .max_bytes = "1 KiB" }} }},
            // A rule, or a condition over named rules. `rulebook explain` lists what else can stand here.
            .judge = .{{
                .exact_match = .{{ .from = .{{ .submission = "answer" }}, .expected = "{{{{ params.answer }}}}" }},
                .why = "The file must hold the number and nothing else.",
            }},
            // Right work, with which `rulebook task probe` sees that the judge lets it pass.
            .oracle = .{{ .hand_in = .{{ .answer = "{{{{ params.answer }}}}" }} }},
        }},
        .{{
            .name = "explain",
            .instructions = "Say in one sentence how you worked it out.",
            .judge = .{{
                .regex = .{{ .patterns = .{{"(?i)\\\\b(times|multipl|product)"}}, .from = "final_message" }},
            }},
            .oracle = .{{ .say = "I multiplied six by seven." }},
        }},
    }},

    // How the steps' scores make one: last, sum, mean, min, max, weighted, or an expression over `steps`.
    .score = "mean",
}}
"""

EVALUATION_YAML = """\
# yaml-language-server: $schema=rulebook.evaluation.schema.json
# Rows, scorers, and what their means must reach. Write the schema file for your editor with
#   rulebook schema rulebook.evaluation > rulebook.evaluation.schema.json
# and run it with
#   rulebook evaluation run {file}
schema: rulebook.evaluation
version: 1
name: {name}

# The rows, or the name of a file of them: .jsonl, .json, .csv, .parquet.
dataset:
  rows:
    - {{question: 'What is 6 times 7?', output: 'It is 42.', expected: '42'}}
    - {{question: 'What is 2 plus 2?', output: '4', expected: '4'}}

# What makes the `output` of a row, where rows have none: a command that reads the row as JSON and prints the output.
# task: {{argv: [python3, answer.py]}}

# Each reads columns of a row (`inputs`) and gives a score. What fails in a row is that row's alone, and never a 0.
scorers:
  - contains: {{name: holds-the-number}}
  - levenshtein: {{name: close, inputs: [output, expected]}}

# Exit status 3 when one is not met. How many rows may be unmeasured is `unmeasured: {{max: 0}}`, unless it says more.
gates:
  holds-the-number: {{mean: {{min: 0.9}}}}
"""

EVALUATION_ZON = """\
// Rows, scorers, and what their means must reach. Run it with
//   rulebook evaluation run {file}
.{{
    .schema = "rulebook.evaluation",
    .version = 1,
    .name = "{name}",

    // The rows, or the name of a file of them: .jsonl, .json, .csv, .parquet.
    .dataset = .{{
        .rows = .{{
            .{{ .question = "What is 6 times 7?", .output = "It is 42.", .expected = "42" }},
            .{{ .question = "What is 2 plus 2?", .output = "4", .expected = "4" }},
        }},
    }},

    // Each reads columns of a row (`inputs`) and gives a score. What fails in a row is that row's alone, and never a 0.
    .scorers = .{{
        .{{ .contains = .{{ .name = "holds-the-number" }} }},
        .{{ .levenshtein = .{{ .name = "close", .inputs = .{{ "output", "expected" }} }} }},
    }},

    // Exit status 3 when one is not met.
    .gates = .{{ .@"holds-the-number" = .{{ .mean = .{{ .min = 0.9 }} }} }},
}}
"""
