"""Runs `perdure bench` from outside, as short as it can be: bench.py PROGRAM VERSION.

No speed is judged: what is looked at is the shape of the answer, and what is left behind.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, VERSION = sys.argv[1:3]
SHORT = ["--seconds", "0.01", "--warmup", "0", "--in-flight", "128", "--count", "4000"]
BATCHES = ["1", "8", "32", "128"]


def run(arguments, code):
    done = subprocess.run([PROGRAM, "bench", *arguments], capture_output=True, text=True,
                          check=False)
    shown = f"perdure bench {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    return done


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_positive(numbers, labels):
    assert list(numbers) == labels, numbers
    assert all(is_number(value) and value > 0 for value in numbers.values()), numbers


def check_figures(result, threads):
    check_positive(result["turns_per_s"], BATCHES)
    check_positive(result["claims_per_s"], BATCHES)
    check_positive(result["limit_turns_per_s"], BATCHES)
    check_positive(result["turns_per_s_threads"], threads)
    check_positive(result["fetch_ms"],
                   ["3200", "4000", "future_timers", "unserved_head", "locked_head"])
    for key in ("ratio_to_limit", "commit_p50_ms"):
        assert is_number(result[key]) and result[key] > 0, result


def json_on_the_last_line(folder):
    url = f"sqlite:{folder / 'bench.db'}"
    done = run(["provider", "--provider", url, *SHORT, "--threads", "1,3", "--slow-fsync", "1",
                "--json"], 0)
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    result = json.loads(lines[0])
    assert list(result) == [
        "workload", "provider", "durability", "seconds", "in_flight", "processes", "activity_ms",
        "completed", "failed", "version", "turns_per_s", "claims_per_s", "limit_turns_per_s",
        "ratio_to_limit", "turns_per_s_threads", "commit_p50_ms", "fetch_ms"], result
    assert (result["workload"], result["provider"], result["durability"]) == \
        ("provider", "sqlite", "full"), result
    assert (result["in_flight"], result["processes"], result["activity_ms"]) == (128, 1, 0), result
    assert result["version"] == VERSION and result["failed"] == 0, result
    assert isinstance(result["completed"], int) and result["completed"] > 0, result
    assert is_number(result["seconds"]) and result["seconds"] > 0, result
    check_figures(result, ["1", "3"])
    # One sync a commit, and each takes a millisecond more.
    assert result["commit_p50_ms"] >= 1, result
    assert list(folder.iterdir()) == [], "the files of the bench were left"


def several_runs_and_kept_files(folder):
    store = folder / "kept.db"
    done = run(["provider", "--provider", f"sqlite:{store}?durability=relaxed", *SHORT, "--threads",
                "2", "--repeat", "2", "--keep", "--json"], 0)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["durability"] == "relaxed", result
    check_figures(result, ["2"])
    for batch in BATCHES:
        least, most = result["spread"]["turns_per_s"][batch]
        assert least <= result["turns_per_s"][batch] <= most, result
    assert store.is_file() and (folder / "kept.db-limit").is_file(), list(folder.iterdir())

    before = store.read_bytes()
    done = run(["provider", "--provider", f"sqlite:{store}", *SHORT, "--json"], 1)
    assert "kept.db' exists" in done.stderr and done.stdout == "", done
    assert store.read_bytes() == before, "a file that existed was changed"


def table_for_people(folder):
    done = run(["provider", "--provider", f"sqlite:{folder / 'bench.db'}", *SHORT, "--durability",
                "relaxed", "--threads", "1"], 0)
    assert done.stdout.startswith("provider on sqlite, durability relaxed"), done.stdout
    for key in ("turns_per_s", "ratio_to_limit", "fetch_ms", "completed"):
        assert f"\n{key} " in done.stdout, done.stdout
    assert "{" not in done.stdout, done.stdout
    assert list(folder.iterdir()) == [], "the files of the bench were left"


def wrong_options(folder):
    url = ["--provider", f"sqlite:{folder / 'bench.db'}"]
    for arguments, named in (
            (["nothing", *url], ["workload", "provider"]),
            (["provider"], ["--provider"]),
            (["provider", *url, "--seconds", "0"], ["--seconds", "0.01"]),
            (["provider", *url, "--threads", "1,0"], ["--threads", "1 to 1024"]),
            (["provider", *url, "--in-flight", "1"], ["--in-flight", "128"]),
            (["provider", *url, "--count", "9"], ["--count", "4000"]),
            (["provider", *url, "--durability", "some"], ["--durability", "full"]),
            (["provider", *url, "--slow-fsync", "-1"], ["--slow-fsync", "0 to"]),
            (["provider", *url, "--held", "9"], ["--held", "says nothing", "--threads"]),
            (["provider", *url, "--repeat", "x"], ["--repeat"])):
        done = run(arguments, 2)
        assert done.stdout == "", done
        for word in named:
            assert word in done.stderr, (arguments, word, done.stderr)
    for arguments, named in (
            (["provider", "--provider", "tape:x"], "tape:x"),
            (["provider", "--provider", "sqlite::memory:"], "sqlite:PATH"),
            (["provider", "--provider", f"sqlite:{folder}/none/x"], "none"),
            (["provider", "--provider", f"{url[1]}?size=1"], "size"),
            (["provider", "--provider", f"{url[1]}?durability=full", "--durability", "relaxed"],
             "--durability")):
        done = run(arguments, 1)
        assert named in done.stderr, (arguments, done.stderr)
    assert list(folder.iterdir()) == [], "a refused bench left something"


for case in (json_on_the_last_line, several_runs_and_kept_files, table_for_people, wrong_options):
    with tempfile.TemporaryDirectory() as scratch:
        case(pathlib.Path(scratch))
