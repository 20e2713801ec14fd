"""Runs cancel for all runs that apply, and its preview."""

import contextlib
import signal
import sqlite3
import subprocess

from filled_store import (DONE, LONG, PERDURE, RUNS, STOPPED, STORE, SUMMARY, change, environment,
                          ids_of, json_of, on, run, run_cases, worker)

DONE_FIELDS = ["canceled", "canceling", "ended", "gone", "unreadable", "unknown", "ids", "problems",
               "stopped"]


def status_of(store, run_id):
    return json_of(store, "show", run_id)["status"]


def cancels_what_applies(store):
    done = json_of(store, "cancel", "--name", "approval", "--roots", "--reason", "no more")
    assert list(done) == DONE_FIELDS, done
    assert done["canceled"] == 2 and done["ids"] == ["wait-1", "wait-2"], done
    assert [done[each] for each in DONE_FIELDS[1:6]] == [0] * 5, done
    assert done["problems"] == [] and done["stopped"] is None, done
    for run_id in ("wait-1", "wait-2"):
        shown = json_of(store, "show", run_id)
        assert (shown["status"], shown["cancel_reason"]) == ("canceling", "no more"), shown
    assert ids_of(store, "--status", "running") == ["family-1/approval", "family-1", "stuck-1"]

    # The same again tells nobody twice.
    done = run(on(store, "cancel", "--name", "approval", "--roots", "--reason", "other"), DONE)
    assert done.stdout == "runs canceled: 0; canceling before: 2\n" and done.stderr == "", done
    assert json_of(store, "show", "wait-1")["cancel_reason"] == "no more"
    with worker(store):
        for run_id in ("wait-1", "wait-2"):
            run(on(store, "wait", run_id, "--timeout", f"{LONG}s"), STOPPED)
    done = run(on(store, "cancel", "--name", "approval", "--roots"), DONE)
    assert done.stdout == "runs canceled: 0\n", done


def cancels_by_age(store):
    change(store, "UPDATE instances SET created_at = 1600000000000000 WHERE id = 'wait-1'")
    for option in (["--older-than", "1h"], ["--until", "2020-09-14"]):
        preview = json_of(store, "cancel", *option, "--preview")
        assert [each["id"] for each in preview["first"]] == ["wait-1"], preview
    assert run(on(store, "cancel", "--older-than", "1h"), DONE).stdout == "runs canceled: 1\n"
    assert ids_of(store, "--status", "canceling") == ["wait-1"]


def cancels_all_only_when_told(store):
    done = json_of(store, "cancel", "--all")
    assert done["ids"] == ["stuck-1", "wait-1", "wait-2", "family-1"], done
    assert (done["canceled"], done["canceling"]) == (4, 1), done  # a child goes with its parent
    assert ids_of(store, "--status", "running") == []
    assert status_of(store, "family-1/approval") == "canceling"


def previews_change_nothing(store):
    before = store.read_bytes()
    preview = json_of(store, "cancel", "--name", "approval", "--preview")
    assert store.read_bytes() == before
    assert list(preview) == ["runs", "canceling", "unreadable", "first"], preview
    assert (preview["runs"], preview["canceling"], preview["unreadable"]) == (3, 0, 0), preview
    assert [each["id"] for each in preview["first"]] == ["family-1/approval", "wait-2", "wait-1"]
    assert all(list(each) == SUMMARY for each in preview["first"]), preview

    lines = run(on(store, "cancel", "--all", "--preview"), DONE).stdout.splitlines()
    assert lines[0].split()[:3] == ["ID", "NAME", "STATUS"], lines
    assert [line.split()[0] for line in lines[1:-1]] == [
        "family-1/approval", "family-1", "wait-2", "wait-1", "stuck-1"], lines
    assert lines[-1] == "runs that would be canceled: 5", lines
    text = run(on(store, "cancel", "--name", "none", "--preview"), DONE).stdout
    assert text.splitlines()[-1] == "runs that would be canceled: 0", text

    run(["many", f"sqlite:{store}?durability=relaxed", "120"], DONE, program=RUNS)
    lines = run(on(store, "cancel", "--name", "nobody", "--preview"), DONE).stdout.splitlines()
    assert len(lines) == 102 and lines[1].split()[0] == "many-119", lines
    assert lines[-1] == "runs that would be canceled: 120 (not shown: 20)", lines
    assert len(ids_of(store, "--name", "nobody", "--status", "running", "--limit", "200")) == 120


def damaged_runs_are_named_and_the_others_canceled(store):
    change(store, "UPDATE executions SET status = 99 WHERE instance_key = "
                  "(SELECT instance_key FROM instances WHERE id = 'wait-1')")
    preview = json_of(store, "cancel", "--name", "approval", "--preview")
    assert (preview["runs"], preview["unreadable"]) == (2, 1), preview
    done = json_of(store, "cancel", "--name", "approval", code=STORE)
    assert done["ids"] == ["wait-2", "family-1/approval"] and done["unreadable"] == 1, done
    assert len(done["problems"]) == 1, done
    assert "wait-1" in done["problems"][0] and "executions" in done["problems"][0], done
    done = run(on(store, "cancel", "--name", "approval"), STORE)
    assert done.stdout == "runs canceled: 0; canceling before: 2; cannot be read: 1\n", done
    assert "run 'wait-1'" in done.stderr, done


def canceled_in(store):
    with contextlib.closing(sqlite3.connect(store, timeout=LONG)) as database:
        return database.execute("SELECT count(*) FROM executions e JOIN instances i USING "
                                "(instance_key) WHERE i.name = 'nobody' AND e.status = 7 "
                                ).fetchone()[0]


def one_that_was_killed_is_simply_given_again(store):
    count = 1500
    run(["many", f"sqlite:{store}?durability=relaxed", str(count)], DONE, program=RUNS)
    command = on(store, "cancel", "--name", "nobody", "--reason", "away with them")
    with subprocess.Popen([PERDURE, *command], stdout=subprocess.DEVNULL,
                          env=environment()) as process:
        while canceled_in(store) == 0:
            assert process.poll() in (None, DONE), process.returncode
        process.send_signal(signal.SIGKILL)
        process.wait(LONG)
    before = canceled_in(store)
    assert before > 0
    done = json_of(store, "cancel", "--name", "nobody", "--reason", "away with them")
    assert done["canceled"] == count - before and done["ended"] == 0, (before, done)
    assert canceled_in(store) == count
    assert ids_of(store, "--name", "nobody", "--status", "live") == []
    assert json_of(store, "show", "many-0")["cancel_reason"] == "away with them"


run_cases((
    cancels_what_applies,
    cancels_by_age,
    cancels_all_only_when_told,
    previews_change_nothing,
    damaged_runs_are_named_and_the_others_canceled,
    one_that_was_killed_is_simply_given_again))
