"""Runs `replay` of a small program from outside: replay.py SHOP PERDURE."""

import contextlib
import hashlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SHOP, PERDURE = sys.argv[1:3]


def run(arguments, code):
    done = subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                          check=False)
    shown = f"{arguments}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    return done


def replay(code_of, arguments, code):
    return run([SHOP, code_of, "replay", *arguments], code)


def results(code_of, arguments, code):
    """What `--json` prints: result by run and execution, the objects, and the summary."""
    done = replay(code_of, [*arguments, "--json"], code)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    summary = lines.pop()["summary"]
    assert summary["histories"] == len(lines), done.stdout
    kinds = {f"{each['run']}/{each.get('execution', 0)}": each["result"] for each in lines}
    assert len(kinds) == len(lines), done.stdout
    return kinds, {f"{each['run']}/{each.get('execution', 0)}": each for each in lines}, summary


def bytes_of(store):
    """Of the database and its log; a log that is missing and an empty one are the same."""
    files = [store, store.with_name(store.name + "-wal")]
    content = [file.read_bytes() if file.exists() else b"" for file in files]
    return [(len(each), hashlib.sha256(each).hexdigest()) for each in content]


def change(store, statement):
    with contextlib.closing(sqlite3.connect(store)) as database:
        changed = database.execute(statement).rowcount
        database.commit()
    assert changed == 1, (statement, changed)


ALL_OK = {"order-1/1": "ok", "price-1/1": "ok", "count-1/1": "ok", "count-1/2": "ok",
          "count-1/3": "ok", "wait-1/1": "ok", "ruled-1/1": "ok", "foreign-1/1": "ok",
          "untouched-1/1": "ok"}
AFTER = {**ALL_OK, "order-1/1": "mismatch", "ruled-1/1": "unserved", "foreign-1/1": "skipped"}


def the_code_that_recorded_agrees(store):
    kinds, _, summary = results("before", ["--provider", f"sqlite:{store}"], 0)
    assert kinds == ALL_OK, kinds
    assert summary == {"histories": 9, "runs": 7, "ok": 9, "mismatch": 0, "unserved": 0,
                       "skipped": 0, "unreadable": 0}, summary
    done = replay("before", ["--provider", f"sqlite:{store}", "--all"], 0)
    lines = done.stdout.splitlines()
    assert "ok: run 'count-1' execution 2, 'counter', 4 events" in lines, done.stdout
    assert "ok: run 'ruled-1' execution 1, 'ruled' version 1.0, 2 events" in lines, done.stdout
    assert lines[-1] == "9 histories of 7 runs: 9 ok", done.stdout
    assert "\n  warning: the run has had no turn" in done.stdout, done.stdout


def changed_code_is_found(store):
    kinds, all_of, summary = results("after", ["--provider", f"sqlite:{store}"], 1)
    assert kinds == AFTER, kinds
    assert (summary["mismatch"], summary["unserved"], summary["skipped"]) == (1, 1, 1), summary
    found = all_of["order-1/1"]["mismatch"]
    assert found["position"] == 4, found
    assert "ship" in found["expected"] and "notify" in found["actual"], found
    assert "patched" in found["hint"], found
    assert "1.0" == all_of["ruled-1/1"]["version"], all_of["ruled-1/1"]
    assert "2.0" in all_of["ruled-1/1"]["problem"], all_of["ruled-1/1"]
    assert len(all_of["price-1/1"]["warnings"]) == 1, all_of["price-1/1"]

    done = replay("after", ["--provider", f"sqlite:{store}"], 1)
    assert ("mismatch: run 'order-1' execution 1, 'checkout', 6 events\n  at event 4\n"
            "  history has: ") in done.stdout, done.stdout
    assert "9 histories of 7 runs: 6 ok, 1 mismatch, 1 unserved, 1 skipped" in done.stdout, done


def arguments_count_when_strict(store):
    only = ["--provider", f"sqlite:{store}", "--id", "price-1"]
    assert results("after", only, 0)[0] == {"price-1/1": "ok"}
    kinds, all_of, _ = results("after", [*only, "--strict"], 1)
    assert kinds == {"price-1/1": "mismatch"}, kinds
    assert all_of["price-1/1"]["mismatch"]["position"] == 2, all_of


def runs_can_be_chosen(store):
    url = ["--provider", f"sqlite:{store}"]
    kinds, _, _ = results("after", [*url, "--running"], 0)
    assert kinds == {"wait-1/1": "ok", "untouched-1/1": "ok"}, kinds
    kinds, _, _ = results("after", [*url, "--ended", "--name", "counter"], 0)
    assert kinds == {"count-1/1": "ok", "count-1/2": "ok", "count-1/3": "ok"}, kinds
    kinds, _, _ = results("after", [*url, "--name", "checkout"], 1)
    assert kinds == {"order-1/1": "mismatch", "untouched-1/1": "ok"}, kinds
    kinds, _, _ = results("after", [*url, "--id", "wait-1", "--id", "price-1"], 0)
    assert kinds == {"wait-1/1": "ok", "price-1/1": "ok"}, kinds
    kinds, _, _ = results("after", [*url, "--id", "wait-1", "--ended"], 0)
    assert kinds == {}, kinds
    # One that was asked for is not passed over.
    assert results("after", [*url, "--id", "foreign-1"], 1)[0] == {"foreign-1/1": "unserved"}
    kinds, all_of, _ = results("before", [*url, "--id", "nobody", "--id", "wait-1"], 3)
    assert kinds == {"nobody/0": "unreadable", "wait-1/1": "ok"}, kinds
    assert all_of["nobody/0"]["problem"] == "there is no such run", all_of


def files_are_replayed(store):
    folder = store.parent
    good, bad = folder / "good.json", folder / "bad.json"
    good.write_text(run([SHOP, "export", f"sqlite:{store}", "order-1"], 0).stdout)
    bad.write_text("{}")
    done = replay("before", [good], 0)
    assert done.stdout.startswith(f"ok: {good} run 'order-1' execution 1, 'checkout', 6"), done
    assert "at event 4" in replay("after", [good], 1).stdout
    done = replay("before", [bad, good, folder / "none.json"], 3)
    assert f"unreadable: {bad}\n  history: field 'format'" in done.stdout, done
    assert f"unreadable: {folder / 'none.json'}\n  it cannot be read" in done.stdout, done
    assert "3 histories of 1 runs: 1 ok, 2 unreadable" in done.stdout, done
    assert replay("after", [bad, good], 1).stdout.count("unreadable:") == 1


def a_damaged_row_is_told_for_its_run_alone(store):
    change(store, "UPDATE history SET kind = 999 WHERE event_id = 2 AND instance_key = "
                  "(SELECT instance_key FROM instances WHERE id = 'price-1')")
    change(store, "UPDATE executions SET status = 99 WHERE execution = 1 AND instance_key = "
                  "(SELECT instance_key FROM instances WHERE id = 'count-1')")
    kinds, all_of, _ = results("before", ["--provider", f"sqlite:{store}"], 3)
    assert kinds == {**ALL_OK, "price-1/1": "unreadable", "count-1/1": "unreadable"}, kinds
    assert "history" in all_of["price-1/1"]["problem"], all_of["price-1/1"]
    assert "executions" in all_of["count-1/1"]["problem"], all_of["count-1/1"]
    # A mismatch is told before damage.
    assert results("after", ["--provider", f"sqlite:{store}"], 1)[0]["price-1/1"] == "unreadable"


def the_store_is_not_changed(store):
    before = bytes_of(store)
    for code_of, code in (("before", 0), ("after", 1)):
        replay(code_of, ["--provider", f"sqlite:{store}", "--strict"], code)
        assert bytes_of(store) == before
    # Also while somebody writes to it.
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE instances SET queue = 'other'")
        assert results("before", ["--provider", f"sqlite:{store}"], 0)[0] == ALL_OK
        writer.execute("ROLLBACK")


def other_stores_are_refused_and_left_alone(store):
    folder = store.parent
    missing = folder / "missing.db"
    done = replay("before", ["--provider", f"sqlite:{missing}"], 3)
    assert "missing.db" in done.stderr and done.stdout == "", done
    assert not missing.exists(), "a store was made"
    text = folder / "text.db"
    text.write_text("no database at all, but long enough to be looked at as one" * 20)
    assert "not an SQLite database" in replay("before", ["--provider", f"sqlite:{text}"], 3).stderr
    with contextlib.closing(sqlite3.connect(folder / "theirs.db")) as theirs:
        theirs.execute("CREATE TABLE theirs (a)")
    done = replay("before", ["--provider", f"sqlite:{folder / 'theirs.db'}"], 3)
    assert "another program" in done.stderr, done
    for bad in ("sqlite::memory:", "tape:x", f"sqlite:{folder}/none/x.db"):
        assert replay("before", ["--provider", bad], 3).stdout == ""
    # A schema of an older program is not brought up to date, one of a newer is not guessed at.
    with contextlib.closing(sqlite3.connect(store)) as database:
        database.execute("INSERT INTO schema_migrations SELECT max(version) + 1, 'newer', 0 FROM "
                         "schema_migrations")
        database.commit()
    assert "newer version" in replay("before", ["--provider", f"sqlite:{store}"], 3).stderr
    with contextlib.closing(sqlite3.connect(store)) as database:
        database.execute("DELETE FROM schema_migrations")
        database.execute("INSERT INTO schema_migrations VALUES (0, 'older', 0)")
        database.commit()
    before = bytes_of(store)
    replay("before", ["--provider", f"sqlite:{store}"], 3)
    assert bytes_of(store) == before


def wrong_command_lines(store):
    url = ["--provider", f"sqlite:{store}"]
    for arguments, named in (
            ([], "--provider"),
            ([*url, "file.json"], "files"),
            (["file.json", "--id", "x"], "--provider"),
            (["file.json", "--running"], "--provider"),
            ([*url, "--running", "--ended"], "--running"),
            ([*url, "--name", "nothing"], "registered are: checkout, counter"),
            ([*url, "--no-such"], "--no-such")):
        done = replay("before", arguments, 2)
        assert done.stdout == "" and named in done.stderr, (arguments, done)
    assert "no-such" in run([SHOP, "before", "no-such"], 2).stderr
    assert "replay" in run([SHOP, "before"], 0).stdout
    assert "replay" in run([SHOP, "before", "--help"], 0).stdout
    assert "--strict" in replay("before", ["--help"], 0).stdout


def a_program_without_code_says_what_is_missing(store):
    for command in ([PERDURE], [SHOP, "empty"]):
        done = run([*command, "replay", "--provider", f"sqlite:{store}"], 2)
        assert "pd::cli_main" in done.stderr and done.stdout == "", done


for case in (the_code_that_recorded_agrees, changed_code_is_found, arguments_count_when_strict,
             runs_can_be_chosen, files_are_replayed, a_damaged_row_is_told_for_its_run_alone,
             the_store_is_not_changed, other_stores_are_refused_and_left_alone,
             wrong_command_lines, a_program_without_code_says_what_is_missing):
    with tempfile.TemporaryDirectory() as scratch:
        filled = pathlib.Path(scratch) / "orders.db"
        run([SHOP, "fill", f"sqlite:{filled}"], 0)
        case(filled)
