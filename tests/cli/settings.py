"""Runs perdure settings from outside: settings.py PERDURE RUNS. No store is there."""

import json
import os
import re
import subprocess
import sys
import tempfile

PERDURE, RUNS = sys.argv[1:3]
DONE, USAGE = 0, 2
FIELDS = ["name", "group", "unit", "default", "least", "most", "least_by", "most_by", "zero",
          "meaning"]


def run(arguments, code, program=PERDURE):
    """In an empty folder, which stays empty: the command makes and reads no file."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PERDURE_PROVIDER": "sqlite:missing/runs.db"}
        done = subprocess.run([program, "settings", *arguments], capture_output=True, text=True,
                              check=False, timeout=100, cwd=folder, env=environment)
        assert os.listdir(folder) == [], os.listdir(folder)
    assert done.returncode == code, (arguments, done)
    return done


def settings():
    done = run(["--json"], DONE)
    assert done.stdout.count("\n") == 1 and done.stderr == "", done
    answer = json.loads(done.stdout)
    assert list(answer) == ["settings"], answer
    return answer["settings"]


def programs_get_numbers():
    by_name = {each["name"]: each for each in settings()}
    assert len(by_name) == len(settings()), by_name
    for each in by_name.values():
        assert list(each) == FIELDS, each
        assert each["meaning"] and each["group"], each
    lock = by_name["worker_lock_timeout"]
    assert (lock["unit"], lock["default"], lock["least"]) == ("ms", 30_000, 100), lock
    assert lock["most"] == 365 * 24 * 3_600_000 and lock["zero"] is None, lock
    cache = by_name["max_cache_bytes"]
    assert (cache["unit"], cache["default"], cache["least"]) == ("bytes", 256 << 20, 0), cache
    assert by_name["replay_check_fraction"]["default"] == 0.001
    assert by_name["strict_arguments"]["default"] is False
    assert by_name["workers"]["default"] == []
    assert by_name["workers[].queue"]["default"] == "default"
    assert by_name["workers[].max_concurrent_activities"]["default"] == 200
    assert by_name["max_zombie_count"]["least"] == 0 and by_name["max_zombie_count"]["zero"]
    dead = by_name["worker_dead_after"]
    assert dead["least_by"] == {"setting": "process_heartbeat_interval", "times": 2}, dead
    assert (dead["least"], dead["most_by"]) == (2_000, None), dead
    for name, bound in (("default_heartbeat_throttle_interval", "max_heartbeat_throttle_interval"),
                        ("zombie_retry_interval", "zombie_retry_max_delay")):
        assert by_name[name]["most_by"] == {"setting": bound, "times": 1}, by_name[name]
        assert by_name[name]["most"] == by_name[bound]["default"], by_name[name]


def defaults_are_in_their_ranges():
    for each in settings():
        if each["unit"] in ("ms", "bytes", "count", "fraction"):
            default = each["least"] if each["default"] is None else each["default"]  # unset
            assert each["least"] <= default <= each["most"], each
            assert (each["zero"] is not None) == (each["least"] == 0), each
        else:
            assert each["zero"] is None, each


def people_get_a_table():
    done = run([], DONE)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["NAME", "DEFAULT", "RANGE", "MEANING"] and done.stderr == "", done
    assert [line.split()[0] for line in lines[1:]] == [each["name"] for each in settings()], lines
    for heading in ("DEFAULT", "RANGE", "MEANING"):
        at = lines[0].index(heading)
        assert all(line[at - 2:at] == "  " and line[at] != " " for line in lines[1:]), done.stdout
    for row in (r"worker_lock_timeout +30 s +100 ms to 365 d +\w.+",
                r"max_cache_bytes +256 MiB +0 or more +\w.+; 0: none are kept",
                r"zombie_give_up_after +1 h +1 ms to 365 d +\w.+",
                r"worker_dead_after +5 s +2 x process_heartbeat_interval to 365 d +\w.+"):
        assert re.search(f"^{row}$", done.stdout, re.M), (row, done.stdout)


def documents_get_a_table_for_each_group():
    done = run(["--markdown"], DONE)
    groups = list(dict.fromkeys(each["group"] for each in settings()))
    assert re.findall(r"^### (.+)$", done.stdout, re.M) == groups, done
    names = re.findall(r"^\| `(\S+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$", done.stdout, re.M)
    assert names == [each["name"] for each in settings()], done


def wrong_command_lines_are_refused():
    for arguments in (["--json", "--markdown"], ["--provider", "sqlite:runs.db"], ["worker"]):
        done = run(arguments, USAGE)
        assert done.stdout == "" and "Try 'perdure settings --help'" in done.stderr, done


def programs_of_users_have_it_too():
    assert run(["--json"], DONE, program=RUNS).stdout == run(["--json"], DONE).stdout


for case in (
        programs_get_numbers,
        defaults_are_in_their_ranges,
        people_get_a_table,
        documents_get_a_table_for_each_group,
        wrong_command_lines_are_refused,
        programs_of_users_have_it_too,
):
    if not sys.argv[3:] or case.__name__ in sys.argv[3:]:
        case()
