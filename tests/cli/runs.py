"""Runs list, show, wait, cancel, terminate, raise and history, on runs in every state."""

import contextlib
import json
import re
import sqlite3
import subprocess

from filled_store import (DONE, IDS, LONG, NO, NO_SUCH_RUN, PERDURE, RUNS, SHOWN, STATUS, STOPPED,
                          SUMMARY, TIMED_OUT, USAGE, UTC, change, count_of, ids_of, json_of, on,
                          run, run_cases, worker)


def begin_wait(store, *arguments):
    return subprocess.Popen([PERDURE, *on(store, "wait", *arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end_of(process):
    stdout, stderr = process.communicate(timeout=LONG)
    return process.returncode, stdout, stderr


def lists_all_newest_first(store):
    answer = json_of(store, "list")
    assert list(answer) == ["runs", "next"] and answer["next"] is None, answer
    assert [each["id"] for each in answer["runs"]] == IDS, answer
    for each in answer["runs"]:
        assert list(each) == SUMMARY, each
        assert each["status"] == STATUS[each["id"]], each
        assert UTC.fullmatch(each["created_at"]), each
        assert each["is_child"] == each["id"].startswith("family-1/"), each
    by_id = {each["id"]: each for each in answer["runs"]}
    assert by_id["greet-1"]["version"] == "1.0" and by_id["pay-1"]["version"] is None, by_id
    assert by_id["count-1"]["execution"] == 3, by_id
    assert by_id["stuck-1"]["blocked"] == "nondeterminism", by_id

    done = run(on(store, "list"), DONE)
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + len(IDS) and done.stderr == "", done
    assert lines[0].split() == ["ID", "NAME", "STATUS", "EXECUTION", "CREATED", "AGE", "NOTE"]
    for heading in ("NAME", "STATUS", "CREATED"):
        at = lines[0].index(heading)
        assert all(line[at - 2:at] == "  " and line[at] != " " for line in lines[1:]), done.stdout
    assert lines[-1].startswith("stuck-1 ") and lines[-1].endswith("blocked: nondeterminism"), lines
    assert "evil\\x1b[31m\\nid" in done.stdout and "\x1b" not in done.stdout, done.stdout


def lists_what_applies(store):
    assert ids_of(store, "--status", "failed") == ["pay-1"]
    assert ids_of(store, "--status", "failed,terminated") == ["end-1", "pay-1"]
    assert ids_of(store, "--status", "failed", "--status", "canceled") == ["stop-1", "pay-1"]
    live = [each for each in IDS if STATUS[each] == "running"]
    assert ids_of(store, "--status", "live") == live
    assert ids_of(store, "--status", "ended") == [each for each in IDS if each not in live]
    assert ids_of(store, "--name", "pay") == ["family-1/pay", "pay-1"]
    assert ids_of(store, "--queue", "other") == [] and ids_of(store, "--queue", "default") == IDS
    assert ids_of(store, "--id-prefix", "wait-") == ["wait-2", "wait-1"]
    assert ids_of(store, "--parent", "family-1") == IDS[:2]
    assert ids_of(store, "--roots") == IDS[2:]
    assert ids_of(store, "--since", "1h") == IDS and ids_of(store, "--until", "1h") == []
    assert ids_of(store, "--since", "2020-01-01", "--until", "2020-01-02T00:00:00Z") == []
    # From a moment on: it itself is in, and before it is out.
    change(store, "UPDATE instances SET created_at = 1600000000000000 WHERE id = 'greet-1'")
    assert ids_of(store, "--since", "2020-09-13T12:26:40Z", "--until", "2020-09-13T12:26:41Z") == \
        ["greet-1"]
    assert ids_of(store, "--until", "2020-09-13T12:26:40Z") == []
    done = run(on(store, "list", "--name", "nothing"), DONE)
    assert done.stdout.splitlines()[1:] == [] and done.stderr == "no runs\n", done


def lists_in_pages(store):
    found, after = [], []
    while True:
        page = json_of(store, "list", "--limit", "5", *after)
        assert len(page["runs"]) <= 5, page
        found += [each["id"] for each in page["runs"]]
        if page["next"] is None:
            break
        after = ["--after", page["next"]]
    assert found == IDS, found
    done = run(on(store, "list", "--limit", "2"), DONE)
    assert len(done.stdout.splitlines()) == 3, done
    hint = re.fullmatch(r"more runs follow: (--after \S+)\n", done.stderr)
    assert ids_of(store, "--limit", "1", *hint[1].split()) == [IDS[2]], done


def shows_a_run(store):
    shown = json_of(store, "show", "greet-1")
    assert list(shown) == SHOWN, shown
    assert (shown["status"], shown["output"]) == ("completed", "hello world"), shown
    assert shown["custom_status"] == {"greeting": "world"}, shown
    assert UTC.fullmatch(shown["started_at"]) and UTC.fullmatch(shown["completed_at"]), shown
    assert shown["failure"] is None and shown["cancel_requested_at"] is None, shown
    failed = json_of(store, "show", "pay-1")
    assert failed["failure"] == {"type": "no_funds", "message": "declined\nby the bank",
                                 "retryable": False, "details": None}, failed
    stopped = json_of(store, "show", "stop-1")
    assert stopped["cancel_reason"] == "customer changed their mind", stopped
    assert UTC.fullmatch(stopped["cancel_requested_at"]), stopped
    assert UTC.fullmatch(stopped["canceled_at"]), stopped
    assert json_of(store, "show", "end-1")["cancel_reason"] == "out of hand"
    stuck = json_of(store, "show", "stuck-1")
    assert stuck["blocked"] == "nondeterminism" and "charge" in stuck["blocked_detail"], stuck
    assert json_of(store, "show", "count-1", "--execution", "1")["status"] == "continued_as_new"
    assert len(json_of(store, "show", "greet-long")["output"]) == 100_006

    text = run(on(store, "show", "stop-1"), DONE).stdout
    assert re.search(r"^status +canceled$", text, re.M), text
    assert re.search(r"^  reason +customer changed their mind$", text, re.M), text
    assert re.search(r"^cancel asked +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(.+\)$", text, re.M), text
    assert "declined\\nby the bank" in run(on(store, "show", "pay-1"), DONE).stdout
    text = run(on(store, "show", "greet-long"), DONE).stdout
    assert len(text) < 2_000 and "(100008 bytes; --json has all)" in text, text
    text = run(on(store, "show", "evil\x1b[31m\nid"), DONE).stdout
    assert "\x1b" not in text and r'"hello \u001b[2J"' in text, text


def shows_the_tree(store):
    shown = json_of(store, "show", "family-1", "--tree")
    assert list(shown) == [*SHOWN, "tree"] and shown["tree"]["more"] is False, shown
    nodes = shown["tree"]["nodes"]
    assert list(nodes[0]) == [*SUMMARY, "depth", "parent"], nodes
    assert [(each["id"], each["depth"], each["parent"], each["status"]) for each in nodes] == [
        ("family-1", 0, None, "running"), ("family-1/pay", 1, "family-1", "completed"),
        ("family-1/approval", 1, "family-1", "running")], nodes
    text = run(on(store, "show", "family-1", "--tree"), DONE).stdout
    assert re.search(r"^family-1 .*\n  family-1/pay .*\n  family-1/approval ", text, re.M), text


def waits_for_runs_that_have_ended(store):
    for run_id, code in (("greet-1", DONE), ("count-1", DONE), ("pay-1", NO), ("stop-1", STOPPED),
                         ("end-1", STOPPED)):
        shown = json_of(store, "wait", run_id, "--timeout", "0s", code=code)
        assert list(shown) == SHOWN and shown["status"] == STATUS[run_id], shown
    assert '"hello world"' in run(on(store, "wait", "greet-1"), DONE).stdout


def waits_until_the_time_has_passed(store):
    for run_id, named in (("wait-1", "it is running"), ("stuck-1", "blocked (nondeterminism)")):
        for timeout in ("0s", "20ms"):
            done = run(on(store, "wait", run_id, "--timeout", timeout), TIMED_OUT)
            assert done.stdout == "" and named in done.stderr, done


def waits_are_woken_by_others(store):
    with worker(store):
        waiting = begin_wait(store, "wait-1", "--timeout", f"{LONG}s", "--json")
        raised = json_of(store, "raise", "wait-1", "answer", '{"yes": [1, "two", null]}')
        assert raised == {"id": "wait-1", "event": "answer", "result": "delivered"}, raised
        code, stdout, stderr = end_of(waiting)
        assert (code, stderr) == (DONE, ""), (code, stdout, stderr)
        assert json.loads(stdout)["output"] == {"yes": [1, "two", None]}, stdout

        waiting = begin_wait(store, "wait-2")
        stopped = json_of(store, "cancel", "wait-2", "--reason", "enough")
        assert stopped == {"id": "wait-2", "changed": True, "status": "canceling"}, stopped
        code, stdout, _ = end_of(waiting)
        assert code == STOPPED and "enough" in stdout, (code, stdout)
    assert ids_of(store, "--status", "live") == ["family-1/approval", "family-1", "stuck-1"]


def events_are_any_json(store):
    for payload in ("-5", "[1,2]", "{}", '""', "[]", "null", '"a b"', "1.5", "true"):
        run(on(store, "raise", "wait-1", "answer", payload), DONE)
    run(on(store, "raise", "wait-1", "answer"), DONE)  # null
    long = json.dumps("y" * 1_000_000)
    run(on(store, "raise", "wait-1", "answer", "-"), DONE, input=long)
    with contextlib.closing(sqlite3.connect(store)) as database:
        kept = [json.loads(row[0]) for row in database.execute(
            "SELECT payload FROM orchestrator_queue WHERE instance_key = (SELECT instance_key FROM "
            "instances WHERE id = 'wait-1') ORDER BY message_id")]
    assert kept == [-5, [1, 2], {}, "", [], None, "a b", 1.5, True, None, json.loads(long)], kept


def events_that_reach_nobody_are_told(store):
    done = run(on(store, "raise", "nobody", "answer"), NO_SUCH_RUN)
    assert "--buffer-for" in done.stderr and done.stdout == "", done
    assert json_of(store, "raise", "nobody", "answer", code=NO_SUCH_RUN)["result"] == "not_found"
    buffered = json_of(store, "raise", "nobody", "answer", "--buffer-for", "1h")
    assert buffered["result"] == "buffered", buffered
    assert "has ended" in run(on(store, "raise", "greet-1", "answer"), NO).stderr
    assert json_of(store, "raise", "greet-1", "answer", code=NO)["result"] == "ended"


def wrong_events_store_nothing(store):
    before = count_of(store, "orchestrator_queue"), count_of(store, "requests")
    for payload, named in (("yes", "JSON: "), ("{", "JSON: "), ('{"a":1,"a":2}', "twice"),
                           ("1" * 30, "64 bits"), ("[" * 501 + "]" * 501, "500"),
                           ('"\\u0000"', "NUL")):
        done = run(on(store, "raise", "wait-1", "answer", payload), USAGE)
        assert named in done.stderr and done.stdout == "", (payload, done)
    done = run(on(store, "raise", "wait-1", "answer", "-"), USAGE, input="nonsense")
    assert "standard input: " in done.stderr, done
    done = run(on(store, "raise", "wait-1", "answer", "-"), USAGE, input=f'"{"z" * (2 << 20)}"')
    assert "the limit is" in done.stderr, done
    assert (count_of(store, "orchestrator_queue"), count_of(store, "requests")) == before


def cancels(store):
    done = run(on(store, "cancel", "wait-1", "--reason", "a\nb", "--request-id", "r1"), DONE)
    assert done.stdout == "run 'wait-1': canceling\n" and done.stderr == "", done
    shown = json_of(store, "show", "wait-1")
    assert shown["status"] == "canceling" and shown["cancel_reason"] == "a\nb", shown
    # The same request again answers as the first; another one finds it done.
    again = json_of(store, "cancel", "wait-1", "--reason", "a\nb", "--request-id", "r1")
    assert again == {"id": "wait-1", "changed": True, "status": "canceling"}, again
    other = json_of(store, "cancel", "wait-1")
    assert other == {"id": "wait-1", "changed": False, "status": "canceling"}, other
    assert json_of(store, "cancel", "stop-1")["changed"] is False
    # Too late.
    for run_id in ("greet-1", "pay-1"):
        late = json_of(store, "cancel", run_id, code=NO)
        assert late == {"id": run_id, "changed": False, "status": STATUS[run_id]}, late
        done = run(on(store, "cancel", run_id), NO)
        assert done.stdout == "" and STATUS[run_id] in done.stderr, done
    # A parent takes its children with it.
    run(on(store, "cancel", "family-1"), DONE)
    assert json_of(store, "show", "family-1/approval")["status"] == "canceling"
    assert json_of(store, "show", "family-1")["cancel_reason"] == "asked for on the command line"


def terminates(store):
    ended = json_of(store, "terminate", "family-1", "--reason", "out")
    assert ended == {"id": "family-1", "changed": True, "status": "terminated"}, ended
    for run_id in ("family-1", "family-1/approval"):
        assert json_of(store, "wait", run_id, code=STOPPED)["status"] == "terminated"
    assert json_of(store, "show", "family-1")["cancel_reason"] == "out"
    assert json_of(store, "terminate", "family-1")["changed"] is False
    assert json_of(store, "terminate", "greet-1", code=NO)["status"] == "completed"


def prints_histories(store):
    text = run(on(store, "history", "family-1"), DONE).stdout.splitlines()
    assert text[0].split() == ["EVENT", "AT", "KIND", "OF", "NAME", "DETAIL"], text
    assert re.fullmatch(r"2 +\S+ \S+ +child_scheduled +pay +family-1/pay 5", text[2]), text
    assert re.fullmatch(r"3 +\S+ \S+ +child_completed +2 +5", text[3]), text
    text = run(on(store, "history", "greet-long"), DONE).stdout
    assert max(map(len, text.splitlines())) < 200, text
    assert "declined\\nby the bank" in run(on(store, "history", "pay-1"), DONE).stdout
    first = run(on(store, "history", "count-1", "--execution", "1"), DONE).stdout
    assert "continued_as_new" in first, first
    assert "continued_as_new" not in run(on(store, "history", "count-1"), DONE).stdout


def histories_can_be_replayed(store):
    files = []
    for run_id, execution in (("greet-1", "1"), ("greet-long", "1"), ("family-1", "1"),
                              ("count-1", "2"), ("pay-1", "1"), ("stop-1", "1")):
        done = run([*on(store, "history", run_id, "--execution", execution), "--json"], DONE)
        history = json.loads(done.stdout)
        assert (history["format"], history["instance_id"]) == ("perdure-history", run_id), history
        assert history["execution"] == int(execution), history
        files.append(store.parent / f"{run_id}.json")
        files[-1].write_text(done.stdout, encoding="utf-8")
    done = run(["replay", *files], DONE, program=RUNS)
    assert done.stdout.splitlines()[-1] == "6 histories of 6 runs: 6 ok", done
    current = json.loads(run([*on(store, "history", "count-1"), "--json"], DONE).stdout)
    assert current["execution"] == 3, current


def programs_of_users_have_the_same_commands(store):
    for command in (["list"], ["show", "family-1", "--tree"], ["history", "greet-1"]):
        ours = run([*on(store, *command), "--json"], DONE)
        theirs = run([*on(store, *command), "--json"], DONE, program=RUNS)
        assert ours.stdout == theirs.stdout, (ours, theirs)
    assert json_of(store, "wait", "pay-1", code=NO, program=RUNS)["status"] == "failed"
    assert json_of(store, "raise", "wait-1", "answer", program=RUNS)["result"] == "delivered"
    assert json_of(store, "cancel", "wait-2", program=RUNS)["changed"] is True
    assert json_of(store, "terminate", "wait-2", program=RUNS)["changed"] is True
    names = [set(re.findall(r"^  ([a-z]+)  ", run(["--help"], DONE, program=program).stdout, re.M))
             for program in (PERDURE, RUNS)]
    assert {"list", "show", "wait", "cancel", "terminate", "raise", "signal", "update", "query",
            "history", "replay", "settings"} <= names[0] & names[1], names


run_cases((
    lists_all_newest_first,
    lists_what_applies,
    lists_in_pages,
    shows_a_run,
    shows_the_tree,
    waits_for_runs_that_have_ended,
    waits_until_the_time_has_passed,
    waits_are_woken_by_others,
    events_are_any_json,
    events_that_reach_nobody_are_told,
    wrong_events_store_nothing,
    cancels,
    terminates,
    prints_histories,
    histories_can_be_replayed,
    programs_of_users_have_the_same_commands))
