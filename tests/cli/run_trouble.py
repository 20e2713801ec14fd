"""Runs the commands that look at runs and talk to them from outside, where something is wrong."""

import contextlib
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess

from filled_store import (DONE, IDS, LONG, NO, NO_SUCH_RUN, OUTPUT, PERDURE, RUNS, STORE,
                          TIMED_OUT, USAGE, change, environment, ids_of, json_of, on, run,
                          run_cases, worker)

DOCUMENT = pathlib.Path(__file__).parent.parent.parent / "docs" / "cli.md"


def the_store_may_come_from_the_environment(store):
    told = environment({"PERDURE_PROVIDER": f"sqlite:{store}"})
    assert "greet-1" in run(["list"], DONE, env=told).stdout
    run(["cancel", "wait-1"], DONE, env=told)
    # What is on the command line goes before it.
    run(["list", "--provider", f"sqlite:{store.parent / 'none.db'}"], STORE, env=told)
    for command in (["list"], ["show", "x"], ["wait", "x"], ["cancel", "x"], ["terminate", "x"],
                    ["cancel", "--all"], ["cancel", "--all", "--preview"],
                    ["raise", "x", "y"], ["signal", "x", "y"], ["update", "x", "y"],
                    ["query", "x", "y"], ["history", "x"]):
        for given in (environment(), environment({"PERDURE_PROVIDER": ""})):
            done = run(command, USAGE, env=given)
            assert "PERDURE_PROVIDER" in done.stderr and "--provider" in done.stderr, done


COMMANDS = (["list"], ["show", "wait-1"], ["show", "wait-1", "--tree"], ["wait", "wait-1"],
            ["history", "wait-1"], ["cancel", "--all", "--preview"], ["cancel", "wait-1"],
            ["cancel", "--name", "approval"], ["terminate", "wait-1"],
            ["raise", "wait-1", "answer"], ["signal", "wait-1", "x"], ["update", "wait-1", "x"],
            ["query", "wait-1", "x"])


def other_stores_are_refused_and_left_alone(store):
    folder = store.parent
    text, theirs, empty = folder / "text.db", folder / "theirs.db", folder / "empty.db"
    text.write_text("no database at all, but long enough to be looked at as one" * 20)
    with contextlib.closing(sqlite3.connect(theirs)) as database:
        database.execute("CREATE TABLE theirs (a)")
    empty.touch()
    before = {file: file.read_bytes() for file in folder.iterdir()}
    for command in COMMANDS:
        for url, named in ((f"sqlite:{folder / 'missing.db'}", "missing.db"),
                           (f"sqlite:{folder}/none/x.db", "none"),
                           (f"sqlite:{folder}", "folder"),
                           (f"sqlite:{text}", "not an SQLite database"),
                           (f"sqlite:{theirs}", "another program"),
                           (f"sqlite:{empty}", "empty.db"),
                           ("sqlite::memory:", "memory"),
                           (f"sqlite:{store}?size=1", "size=1"),
                           ("tape:x", "tape:x")):
            done = run([*command, "--provider", url, "--json"], STORE)
            assert named in done.stderr and done.stdout == "", (command, url, done)
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def reading_changes_nothing(store):
    before = store.read_bytes()
    log = store.with_name(store.name + "-wal")
    for command in COMMANDS[:6]:
        run(on(store, *command, *(["--timeout", "0s"] if command[0] == "wait" else [])),
            TIMED_OUT if command[0] == "wait" else DONE)
        assert store.read_bytes() == before
        assert not log.exists() or log.stat().st_size == 0


def runs_that_do_not_exist(store):
    for command in (["show", "none"], ["show", "none", "--tree"], ["wait", "none"],
                    ["history", "none"], ["history", "none", "--json"], ["cancel", "none"],
                    ["terminate", "none"], ["show", "greet-1", "--execution", "2"],
                    ["history", "greet-1", "--execution", "2"]):
        done = run(on(store, *command), NO_SUCH_RUN)
        assert command[1] in done.stderr and done.stdout == "", (command, done)
    done = run(on(store, "show", "no\x1b[31mne"), NO_SUCH_RUN)
    assert "no\\x1b[31mne" in done.stderr and "\x1b" not in done.stderr, done


def wrong_command_lines(store):
    for command, named in (
            (["show"], "id is required"),
            (["show", ""], "id must be 1 to 255"),
            (["show", "i" * 256], "256 bytes"),
            (["show", "x", "--execution", "0"], "--execution"),
            (["show", "x", "y"], "y"),
            (["list", "x"], "x"),
            (["list", "--after", "yesterday"], "'yesterday' is not the `next`"),
            (["list", "--limit", "0"], "--limit"),
            (["list", "--limit", "10001"], "--limit"),
            (["list", "--status", "walking"], "continued_as_new"),
            (["list", "--since", "soon"], "--since"),
            (["list", "--until", "2026-02-30"], "--until"),
            (["list", "--roots", "--parent", "x"], "--parent"),
            (["list", "--no-such"], "--no-such"),
            (["wait", "x", "--timeout", "5"], "--timeout: '5' is no duration; write 500ms"),
            (["wait", "x", "--timeout", "-5s"], "--timeout"),
            (["cancel"], "which runs? Give an ID, or --name"),
            (["cancel", "--preview"], "--all"),
            (["cancel", "--status", "running", "--roots"], "--all"),
            (["cancel", ""], "id must be 1 to 255"),
            (["cancel", "wait-1", "--name", "approval"], "--name"),
            (["cancel", "wait-1", "--preview"], "--preview"),
            (["cancel", "wait-1", "--all"], "--all"),
            (["cancel", "--name", "approval", "--request-id", "r"], "--request-id"),
            (["cancel", "--name", "approval", "--status", "failed"], "failed has ended"),
            (["cancel", "--older-than", "soon"], "'soon'"),
            (["terminate"], "id is required"),
            (["terminate", "--name", "approval"], "--name"),
            (["cancel", "wait-1", "--request-id", "r" * 300], "request_id"),
            (["raise", "wait-1"], "event is required"),
            (["raise", "wait-1", ""], "name"),
            (["raise", "wait-1", "answer", "1", "--delay", "1"], "--delay"),
            (["signal", "wait-1"], "name is required"),
            (["signal", "wait-1", ""], "name"),
            (["signal", "wait-1", "x", "1", "--delay", "1"], "--delay"),
            (["update", "wait-1", "x", "1", "--wait", "soon"], "--wait"),
            (["update", "wait-1", "x", "1", "--timeout", "5"], "--timeout"),
            (["update", "wait-1", "x", "1", "--update-id", "u" * 300], "300 bytes"),
            (["query", "wait-1", ""], "name"),
            (["query", "wait-1", "x", "1", "2"], "2"),
            (["history", "x", "--execution", "one"], "--execution")):
        done = run(on(store, *command), USAGE)
        assert named in done.stderr and done.stdout == "", (command, done)
    assert "Try 'perdure show --help'" in run(on(store, "show"), USAGE).stderr


def the_exit_codes_are_those_of_the_document(_store):
    documented = re.findall(r"^\| (\d) \| (.+?) \|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert [int(code) for code, _ in documented] == list(range(8)), documented
    for command in ([], ["list"], ["show"], ["wait"], ["cancel"], ["terminate"], ["raise"],
                    ["signal"], ["update"], ["query"], ["history"], ["replay"], ["settings"],
                    ["bench"]):
        text = run([*command, "--help"], DONE).stdout
        table = text[text.index("\nExit codes:\n"):]
        assert re.findall(r"^  (\d)  (.+)$", table, re.M) == documented, (command, table)


def a_store_in_use_can_be_used(store):
    with worker(store):
        with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            assert json_of(store, "show", "wait-1")["status"] == "running"
            assert ids_of(store) == IDS
            assert "event_subscribed" in run(on(store, "history", "wait-1"), DONE).stdout
            writer.execute("ROLLBACK")
        run(on(store, "raise", "family-1/approval", "answer", "1"), DONE)
        run(on(store, "wait", "family-1"), DONE)


def the_store_of_a_killed_worker_can_be_used(store):
    with worker(store) as process:
        run(on(store, "raise", "wait-1", "answer", "1"), DONE)
        run(on(store, "wait", "wait-1"), DONE)
        process.send_signal(signal.SIGKILL)
        process.wait(LONG)
    # As the crash left it, its log included: each command is the first one to see it.
    left = store.parent / "left"
    left.mkdir()
    for file in store.parent.glob(store.name + "*"):
        shutil.copy2(file, left)
    assert (left / (store.name + "-wal")).stat().st_size > 0, list(left.iterdir())
    for command, code in ((["show", "wait-1"], DONE), (["list"], DONE), (["wait", "wait-1"], DONE),
                          (["history", "wait-1"], DONE), (["raise", "wait-2", "answer"], DONE),
                          (["cancel", "wait-2"], DONE), (["terminate", "wait-2"], DONE)):
        copy = store.parent / "copy"
        shutil.copytree(left, copy)
        run(on(copy / store.name, *command), code)
        assert json_of(copy / store.name, "show", "wait-1")["output"] == 1
        shutil.rmtree(copy)


def damaged_rows_are_told(store):
    change(store, "UPDATE executions SET status = 99 WHERE instance_key = "
                  "(SELECT instance_key FROM instances WHERE id = 'wait-1')")
    listed = {each["id"]: each for each in json_of(store, "list")["runs"]}
    assert list(listed) == IDS, listed
    damaged = listed["wait-1"]
    assert damaged["status"] is None and "executions" in damaged["problem"], damaged
    assert re.search(r"^wait-1 .* \? .*executions", run(on(store, "list"), DONE).stdout, re.M)
    for command in (["show", "wait-1"], ["wait", "wait-1", "--timeout", "20ms"]):
        done = run(on(store, *command), STORE)
        assert "executions" in done.stderr and done.stdout == "", done


def readers_may_leave(store):
    run(["many", f"sqlite:{store}?durability=relaxed", "1500"], DONE, program=RUNS)
    for command in (["list", "--limit", "10000"], ["list", "--limit", "10000", "--json"]):
        process = subprocess.Popen([PERDURE, *on(store, *command)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
        assert (process.wait(LONG), errors) == (DONE, ""), (command, errors)


def an_answer_that_cannot_be_written_is_told(store):
    def shell(command, code, redirection):
        words = " ".join(f"'{word}'" for word in [PERDURE, *on(store, *command)])
        done = subprocess.run(["sh", "-c", f"exec {words} {redirection}"], capture_output=True,
                              text=True, check=False, timeout=LONG, env=environment())
        assert done.returncode == code, (command, redirection, done)
        return done
    for redirection in (">/dev/full", ">&-"):
        for command in (["list"], ["show", "greet-1", "--json"], ["history", "greet-1", "--json"],
                        ["--help"]):
            assert "standard output" in shell(command, OUTPUT, redirection).stderr
        # What the command found out is not lost.
        shell(["wait", "pay-1"], NO, redirection)
    # No file of the store gets the number of a closed stream.
    shell(["cancel", "wait-1"], OUTPUT, ">&-")
    shell(["cancel", "wait-2"], OUTPUT, "<&- >&- 2>&-")
    for run_id in ("wait-1", "wait-2"):
        assert json_of(store, "show", run_id)["status"] == "canceling"
    with contextlib.closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


run_cases((
    the_store_may_come_from_the_environment,
    other_stores_are_refused_and_left_alone,
    reading_changes_nothing,
    runs_that_do_not_exist,
    wrong_command_lines,
    the_exit_codes_are_those_of_the_document,
    a_store_in_use_can_be_used,
    the_store_of_a_killed_worker_can_be_used,
    damaged_rows_are_told,
    readers_may_leave,
    an_answer_that_cannot_be_written_is_told))
