"""Runs the workloads of `perdure bench` that run orchestrations: bench_engine.py PROGRAM VERSION.

As short as they can be. No speed is judged: what is looked at is the shape of the answer, and what
is left behind.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, VERSION = sys.argv[1:3]
SHORT = ["--seconds", "0.05", "--warmup", "0"]
COMMON = ["workload", "provider", "durability", "seconds", "in_flight", "processes", "activity_ms",
          "completed", "failed", "version"]


def run(arguments, code):
    done = subprocess.run([PROGRAM, "bench", *arguments], capture_output=True, text=True,
                          check=False)
    shown = f"perdure bench {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    return done


def measure(folder, workload, *options):
    """The result of a bench that went well, and left nothing."""
    url = f"sqlite:{folder / 'bench.db'}"
    done = run([workload, "--provider", url, *options, "--json"], 0)
    assert list(folder.iterdir()) == [], "the files of the bench were left"
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    result = json.loads(lines[0])
    assert list(result)[:len(COMMON)] == COMMON, result
    assert (result["workload"], result["provider"], result["durability"]) == \
        (workload, "sqlite", "full"), result
    assert result["version"] == VERSION and result["failed"] == 0, result
    assert result["processes"] == 1 and result["completed"] > 0 and result["seconds"] > 0, result
    return result


def check_figures(result, keys):
    assert list(result)[len(COMMON):] == keys, result
    for key in keys:
        values = result[key] if isinstance(result[key], list) else [result[key]]
        for value in values:
            assert isinstance(value, (int, float)) and value > 0, (key, result)


def hello(folder):
    result = measure(folder, "hello", *SHORT, "--activity-ms", "3", "--workers", "1")
    check_figures(result, ["p50_ms", "p99_ms", "max_ms", "commit_p50_ms"])
    assert result["in_flight"] == 1 and result["activity_ms"] == 3, result
    assert 3 <= result["p50_ms"] <= result["p99_ms"] <= result["max_ms"], result


def loops(folder):
    for workload, activities in (("fanout", 5), ("chain", 10)):
        result = measure(folder, workload, *SHORT, "--in-flight", "3")
        check_figures(result, ["orchestrations_per_s", "activities_per_s", "p50_ms", "p99_ms",
                               "limit_orchestrations_per_s", "ratio_to_limit"])
        assert result["in_flight"] == 3 and result["activity_ms"] == 0, result
        ratio = result["activities_per_s"] / result["orchestrations_per_s"]
        assert abs(ratio - activities) < 0.01, result


def few_slots_and_slow_activities(folder):
    result = measure(folder, "fanout", *SHORT, "--in-flight", "2", "--activity-ms", "20",
                     "--workers", "2")
    # Five activities, two at a time.
    assert result["p50_ms"] >= 60, result


def fanin(folder):
    result = measure(folder, "fanin", *SHORT, "--in-flight", "3", "--count", "100")
    check_figures(result, ["activities_per_s", "per_activity_to_fanout"])


def history(folder):
    result = measure(folder, "history", "--warmup", "0", "--count", "25")
    check_figures(result, ["step_ms_by_decile", "last_to_first_decile"])
    steps = result["step_ms_by_decile"]
    assert len(steps) == 10 and result["in_flight"] == 1, result
    assert abs(result["last_to_first_decile"] - steps[9] / steps[0]) < 0.001 * steps[9] / steps[0]


def several_runs_and_kept_files(folder):
    store = folder / "kept.db"
    url = f"sqlite:{store}?durability=relaxed"
    done = run(["fanout", "--provider", url, *SHORT, "--in-flight", "2", "--repeat", "2", "--keep",
                "--json"], 0)
    result = json.loads(done.stdout)
    assert result["durability"] == "relaxed", result
    least, most = result["spread"]["orchestrations_per_s"]
    assert least <= result["orchestrations_per_s"] <= most, result
    assert store.is_file() and (folder / "kept.db-limit").is_file(), list(folder.iterdir())
    done = run(["hello", "--provider", url, *SHORT], 1)
    assert "kept.db' exists" in done.stderr and done.stdout == "", done


def table_for_people(folder):
    done = run(["fanin", "--provider", f"sqlite:{folder / 'bench.db'}", *SHORT, "--in-flight", "1",
                "--count", "7"], 0)
    assert done.stdout.startswith("fanin on sqlite, durability full"), done.stdout
    for key in ("activities_per_s", "per_activity_to_fanout", "fanout_activities_per_s"):
        assert f"\n{key} " in done.stdout, done.stdout
    assert list(folder.iterdir()) == [], done


def wrong_options(folder):
    url = ["--provider", f"sqlite:{folder / 'bench.db'}"]
    for arguments, named in (
            (["hello", *url, "--in-flight", "2"], ["--in-flight", "says nothing", "hello"]),
            (["fanout", *url, "--count", "2"], ["--count", "says nothing"]),
            (["chain", *url, "--threads", "2"], ["--threads", "says nothing"]),
            (["history", *url, "--seconds", "2"], ["--seconds", "says nothing"]),
            (["history", *url, "--count", "9"], ["--count", "10"]),
            (["fanin", *url, "--workers", "0"], ["--workers", "1"])):
        done = run(arguments, 2)
        for word in named:
            assert word in done.stderr, (arguments, word, done.stderr)
    done = run(["hello", "--provider", "sqlite::memory:"], 1)
    assert "sqlite:PATH" in done.stderr, done
    assert list(folder.iterdir()) == [], "a refused bench left something"


for case in (hello, loops, few_slots_and_slow_activities, fanin, history,
             several_runs_and_kept_files, table_for_people, wrong_options):
    with tempfile.TemporaryDirectory() as scratch:
        case(pathlib.Path(scratch))
