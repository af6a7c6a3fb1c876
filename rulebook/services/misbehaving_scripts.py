"""Programs that a misbehaving student hands in, for judges that run what they are given.

They write only over what has changed since the play began (the leash's time), and make files only in folders that hold
nothing older: a judge's own throw-away folders, never an author's files. They end when the leash is gone, and after
half a minute in any case. A score is written at one stroke, padded, and never cut first: whoever is killed meanwhile
leaves a whole one.
"""

import shlex

from rulebook.services.probe_scene import SCORE

_COMMON = r"""
import os, stat, sys, time
LEASH, SCORE = {leash!r}, {score!r}
NAMES = ("score.json", "score_output.txt", "result.json", "reward.txt")

def changed(facts):
    return facts.st_ctime_ns > os.stat(LEASH).st_mtime_ns

def may_touch(path):
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        above = os.path.dirname(path)
        return all(map(changed, [os.stat(above), *map(os.lstat, (entry.path for entry in os.scandir(above)))]))
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and changed(found)

def write(path):
    place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        os.write(place, (SCORE + " " * 4096 + "\n").encode())
        os.ftruncate(place, len(SCORE) + 4097)
    finally:
        os.close(place)

def write_over(paths):
    for path in paths:
        try:
            if may_touch(path):
                write(path)
        except OSError:
            pass

def in_reach():  # what is given and what lies beside; our own file is named by its full path
    here = os.getcwd()
    return [os.path.join(here, each) for each in (*sys.argv[1:], *NAMES, *os.listdir(here))]
"""

_PYTHON_WRITES = (
    _COMMON
    + r"""
own = os.path.abspath(globals().get("__file__") or "-")
write_over([path for path in in_reach() if path != own])
print(SCORE, flush=True)
os._exit(0)
"""
)

_LINGERS = (
    _COMMON
    + r"""
ready, paths, ends = int(sys.argv[2]), sys.argv[3:], time.monotonic() + 30
while os.path.exists(LEASH) and time.monotonic() < ends:
    write_over(paths)
    if ready >= 0:
        os.close(ready)
        ready = -1
    time.sleep(0.001)
"""
)

_PYTHON_LINGERS = (
    _COMMON
    + r"""
told, ready = os.pipe()
os.set_inheritable(ready, True)
paths = [*in_reach(), os.path.abspath(globals().get("__file__") or "-")]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.execv(sys.executable, [sys.executable, "-c", {lingers!r}, LEASH, str(ready), *paths])
    os._exit(0)
os.close(ready)
os.read(told, 1)
print(SCORE, flush=True)
os._exit(0)
"""
)

_SHELL_COMMON = r"""#!/bin/sh
leash={leash}
score={score}
changed() {{
  [ -n "$(find "$1" -prune -cnewer "$leash" 2>/dev/null)" ]
}}
may_touch() {{
  if [ -e "$1" ] || [ -L "$1" ]; then
    [ -n "$(find "$1" -prune -type f -links 1 -cnewer "$leash" 2>/dev/null)" ]
  else
    above=$(dirname -- "$1")/.
    changed "$above" && [ -z "$(find "$above" -mindepth 1 -maxdepth 1 ! -cnewer "$leash" 2>&1)" ]
  fi
}}
"""

_SHELL_WRITES = (
    _SHELL_COMMON
    + r"""for each in "$@" ./*; do
  [ "$each" -ef "$0" ] || ! may_touch "$each" || printf '%s%4096s\n' "$score" '' 1<> "$each"
done
for each in score.json score_output.txt result.json reward.txt; do
  [ -e "$each" ] || ! may_touch "./$each" || printf '%s%4096s\n' "$score" '' 1<> "$each"
done
printf '%s\n' "$score"
exit 0
"""
)

_SHELL_LINGERS = (
    _SHELL_COMMON
    + r"""loop='
leash=$1 score=$2 count=0
shift 2
while [ -e "$leash" ] && [ "$count" -lt 100000 ]; do
  for each in "$@"; do printf "%s%4096s\n" "$score" "" 1<> "$each"; done
  [ "$count" -gt 0 ] || exec > /dev/null
  count=$((count + 1))
done'
own=$0
first=yes
for each in "$own" "$@" ./* ./score.json ./score_output.txt ./result.json ./reward.txt; do
  [ -z "$first" ] || {{ set --; first=; }}
  ! may_touch "$each" || set -- "$@" "$each"
done
told=$(setsid sh -c "$loop" sh "$leash" "$score" "$@" < /dev/null 2> /dev/null &)
printf '%s\n' "$score"
exit 0
"""
)


def writes_scores(path: str, leash: str) -> bytes:
    """A program that prints a score, writes it over what it is given and what lies in its folder, and ends at once."""
    return _in_language(path, leash, _PYTHON_WRITES, _SHELL_WRITES)


def ends_early(path: str) -> bytes:
    """A program that does nothing and says that all went well."""
    return b"import os\nos._exit(0)\n" if path.endswith(".py") else b"#!/bin/sh\nexit 0\n"


def lingers(path: str, leash: str) -> bytes:
    """A program that leaves another one running, which writes scores over the same files again and again."""
    return _in_language(path, leash, _PYTHON_LINGERS, _SHELL_LINGERS)


def _in_language(path: str, leash: str, python: str, shell: str) -> bytes:
    if not path.endswith(".py"):
        return shell.format(leash=shlex.quote(leash), score=shlex.quote(SCORE)).encode()
    words = {"{leash!r}": repr(leash), "{score!r}": repr(SCORE)}
    inner = _filled(_LINGERS, words)
    return _filled(python, {"{lingers!r}": repr(inner), **words}).encode()


def _filled(text: str, words: dict[str, str]) -> str:
    for mark, value in words.items():
        text = text.replace(mark, value)
    return text
