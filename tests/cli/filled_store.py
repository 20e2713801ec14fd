"""What the scripts that run `perdure` on a store with runs share. Not a test of its own.

A script is called as SCRIPT PERDURE RUNS [CASE..]; RUNS is a program of a user, with the same
commands and the code of the runs.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PERDURE, RUNS = sys.argv[1:3]
LONG = 100  # seconds; nothing that works takes as long
DONE, NO, USAGE, STORE, NO_SUCH_RUN, TIMED_OUT, STOPPED, OUTPUT = range(8)

# Newest first, as they were started.
IDS = ["family-1/approval", "family-1/pay", "family-1", "end-1", "stop-1", "wait-2", "wait-1",
       "pay-1", "count-1", "evil\x1b[31m\nid", "greet-long", "greet-1", "stuck-1"]
STATUS = {"family-1/approval": "running", "family-1/pay": "completed", "family-1": "running",
          "end-1": "terminated", "stop-1": "canceled", "wait-2": "running", "wait-1": "running",
          "pay-1": "failed", "count-1": "completed", "evil\x1b[31m\nid": "completed",
          "greet-long": "completed", "greet-1": "completed", "stuck-1": "running"}
SUMMARY = ["id", "name", "version", "queue", "is_child", "created_at", "execution", "status",
           "blocked", "cancel_requested_at", "started_at", "completed_at", "problem"]
SHOWN = ["id", "name", "version", "queue", "execution", "status", "blocked", "blocked_detail",
         "blocked_since", "custom_status", "output", "failure", "cancel_reason",
         "cancel_requested_at", "canceled_at", "deadline", "started_at", "completed_at"]
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def environment(more=None):
    kept = {name: value for name, value in os.environ.items() if name != "PERDURE_PROVIDER"}
    return {**kept, **(more or {})}


def run(arguments, code, program=PERDURE, **options):
    options.setdefault("env", environment())
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=LONG, **options)
    shown = f"{arguments}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    return done


def on(store, *arguments):
    return [*arguments, "--provider", f"sqlite:{store}"]


def json_of(store, *arguments, code=DONE, **options):
    done = run([*on(store, *arguments), "--json"], code, **options)
    assert done.stdout.count("\n") == 1, done
    return json.loads(done.stdout)


def ids_of(store, *arguments):
    return [each["id"] for each in json_of(store, "list", *arguments)["runs"]]


@contextlib.contextmanager
def worker(store):
    """A process that works on the store while the block runs."""
    with subprocess.Popen([RUNS, "work", f"sqlite:{store}"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "works\n"
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(LONG)


def change(store, statement):
    with contextlib.closing(sqlite3.connect(store)) as database:
        changed = database.execute(statement).rowcount
        database.commit()
    assert changed == 1, (statement, changed)


def count_of(store, table):
    with contextlib.closing(sqlite3.connect(store)) as database:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def run_cases(cases):
    """Each with a store of its own, in a folder where nothing else is."""
    with tempfile.TemporaryDirectory() as made:
        filled = pathlib.Path(made) / "runs.db"
        run(["fill", f"sqlite:{filled}"], DONE, program=RUNS)
        for case in cases:
            if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                # Nobody has it open: what is committed is in the one file.
                store = pathlib.Path(scratch) / "runs.db"
                shutil.copyfile(filled, store)
                case(store)
