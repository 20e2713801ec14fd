"""Runs the workloads of `perdure bench` in which runs wait, as small as they can be:
bench_waiting.py PROGRAM VERSION.

No speed is judged: what is looked at is the shape of the answer, and what is left behind.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, VERSION = sys.argv[1:3]
COMMON = ["workload", "provider", "durability", "seconds", "in_flight", "processes", "activity_ms",
          "completed", "failed", "version"]
CANCEL_KEYS = ["p50_ms", "p99_ms", "max_ms", "call_p99_ms", "lost", "canceled_per_s"]


def run(arguments, code):
    done = subprocess.run([PROGRAM, "bench", *arguments], capture_output=True, text=True,
                          check=False)
    shown = f"perdure bench {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    return done


def processes_of(folder):
    """Processes whose command line names a file of the folder."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if str(folder) in words:
            found.append(words.replace("\0", " "))
    return found


def measure(folder, workload, options, keys):
    """The answer of one run that must leave nothing behind."""
    done = run([workload, "--provider", f"sqlite:{folder / 'bench.db'}", *options, "--durability",
                "relaxed", "--json"], 0)
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    result = json.loads(lines[0])
    assert list(result) == COMMON + keys, result
    assert (result["workload"], result["provider"], result["durability"], result["version"]) == \
        (workload, "sqlite", "relaxed", VERSION), result
    assert result["failed"] == 0 and result["seconds"] > 0, result
    for key in keys:
        assert isinstance(result[key], (int, float)) and not isinstance(result[key], bool), result
    assert list(folder.iterdir()) == [], "the files of the bench were left"
    assert processes_of(folder) == [], "a process of the bench was left"
    return result


def sleepers(folder):
    result = measure(folder, "sleepers", ["--count", "40"],
                     ["rss_bytes_per_cached", "rss_bytes_per_evicted", "starts_per_s",
                      "wakes_per_s"])
    # Once cached and once evicted.
    assert (result["in_flight"], result["completed"]) == (40, 80), result
    assert result["starts_per_s"] > 0 and result["wakes_per_s"] > 0, result


def idle(folder):
    result = measure(folder, "idle", ["--count", "40", "--seconds", "1.2", "--warmup", "0"],
                     ["cpu_percent_of_one_core", "queries_per_s"])
    assert (result["in_flight"], result["completed"]) == (40, 40), result
    assert result["seconds"] >= 1.2, result
    assert result["cpu_percent_of_one_core"] > 0 and result["queries_per_s"] >= 0, result


def cancel(folder):
    # The last round is smaller than the others.
    result = measure(folder, "cancel", ["--running", "8", "--count", "20"], CANCEL_KEYS)
    assert result["processes"] == 1, result
    assert (result["in_flight"], result["completed"], result["lost"]) == (8, 20, 0), result
    assert 0 < result["p50_ms"] <= result["p99_ms"] <= result["max_ms"], result
    assert result["call_p99_ms"] > 0 and result["canceled_per_s"] > 0, result


def cancel_in_another_process(folder):
    result = measure(folder, "cancel", ["--running", "8", "--count", "20", "--processes", "2"],
                     CANCEL_KEYS)
    assert (result["processes"], result["completed"], result["lost"]) == (2, 20, 0), result
    assert 0 < result["p50_ms"] <= result["p99_ms"] <= result["max_ms"], result


def cancel_without_notifications(folder):
    for processes in ("1", "2"):
        result = measure(folder, "cancel", ["--running", "40", "--count", "40", "--processes",
                                            processes, "--drop-notifications"], CANCEL_KEYS)
        assert (result["completed"], result["lost"]) == (40, 0), result


def soak(folder):
    result = measure(folder, "soak", ["--cancels", "30", "--seed", "123456789", "--workers", "9"],
                     ["cancels", "violations", "seed"])
    assert (result["cancels"], result["violations"], result["seed"]) == (30, 0, 123456789), result
    assert result["completed"] > 0 and result["in_flight"] > 0, result


def soak_again_and_again(folder):
    done = run(["soak", "--provider", f"sqlite:{folder / 'bench.db'}", "--cancels", "5",
                "--repeat", "2", "--json"], 0)
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["cancels"], result["violations"]) == (10, 0), result
    # Each run has a seed of its own: the first one is told, the others follow it.
    assert result["spread"]["seed"] == [result["seed"], result["seed"] + 1], result


def recovery(folder):
    result = measure(folder, "recovery", ["--held", "12"], ["recovered_s", "doubled"])
    assert (result["in_flight"], result["processes"], result["completed"]) == (12, 2, 12), result
    assert result["doubled"] == 0 and result["recovered_s"] > 0, result


def recovery_by_heartbeat_alone(folder):
    result = measure(folder, "recovery", ["--held", "3", "--heartbeat-only"],
                     ["recovered_s", "doubled"])
    # The counter of the dead one must stand still for worker_dead_after, 5 s: counted from a look
    # that may be up to a heartbeat older than the kill.
    assert result["recovered_s"] >= 1, result
    assert result["doubled"] == 0 and result["completed"] == 3, result


def wrong_options(folder):
    url = ["--provider", f"sqlite:{folder / 'bench.db'}"]
    for arguments, named in (
            (["sleepers", *url, "--count", "1"], ["--count", "2"]),
            (["sleepers", *url, "--seconds", "1"], ["--seconds", "says nothing"]),
            (["idle", *url, "--running", "1"], ["--running", "says nothing"]),
            (["cancel", *url, "--running", "0"], ["--running"]),
            (["cancel", *url, "--heartbeat-only"], ["--heartbeat-only", "says nothing"]),
            (["cancel", *url, "--processes", "3"], ["--processes", "1 to 2"]),
            (["cancel", *url, "--seed", "3"], ["--seed", "says nothing"]),
            (["soak", *url, "--cancels", "0"], ["--cancels"]),
            (["soak", *url, "--seed", "-1"], ["--seed"]),
            (["soak", *url, "--drop-notifications"], ["--drop-notifications", "says nothing"]),
            (["recovery", *url, "--processes", "2"], ["--processes", "says nothing"]),
            (["recovery", *url, "--count", "5"], ["--count", "says nothing"])):
        done = run(arguments, 2)
        assert done.stdout == "", done
        for word in named:
            assert word in done.stderr, (arguments, word, done.stderr)
    for workload in ("sleepers", "idle", "cancel", "recovery", "soak"):
        done = run([workload, "--provider", f"sqlite:{folder}/none/x"], 1)
        assert "none" in done.stderr and done.stdout == "", done
    assert list(folder.iterdir()) == [], "a refused bench left something"


def second_processes_end_with_their_caller(folder):
    """The second process of `recovery` or `cancel` must not outlive a bench that was killed."""
    url = f"sqlite:{folder / 'bench.db'}"
    with tempfile.TemporaryFile(dir=folder) as board:
        board.truncate(4096)
        for command in (["bench-holder", url, "1"],
                        ["bench-canceled-worker", url, "1", "1", str(board.fileno()), "0"]):
            done = subprocess.run([PROGRAM, *command], stdin=subprocess.DEVNULL,
                                  pass_fds=[board.fileno()], capture_output=True, text=True,
                                  check=False, timeout=60)
            assert done.returncode == 1 and done.stdout in ("", "serving\n"), done
    shown = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    assert "bench" in shown and "bench-" not in shown, shown


for case in (sleepers, idle, cancel, cancel_in_another_process, cancel_without_notifications, soak,
             soak_again_and_again, recovery, recovery_by_heartbeat_alone, wrong_options,
             second_processes_end_with_their_caller):
    with tempfile.TemporaryDirectory() as scratch:
        case(pathlib.Path(scratch))
