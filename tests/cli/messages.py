"""Runs signal, update and query, on runs with handlers and on others."""

import contextlib
import json
import sqlite3

from filled_store import (DONE, LONG, NO, NO_SUCH_RUN, RUNS, TIMED_OUT, USAGE, count_of, json_of,
                          on, run, run_cases, worker)

ID = "talk-1"
PATIENT = ["--timeout", f"{LONG}s"]


def start(store, run_id=ID):
    run(["talk", f"sqlite:{store}", run_id], DONE, program=RUNS)


def words_of(store, run_id=ID):
    answer = json_of(store, "query", run_id, "words", *PATIENT)
    assert list(answer) == ["id", "query", "result"], answer
    assert (answer["id"], answer["query"]) == (run_id, "words"), answer
    return answer["result"]


def kinds_of(store, run_id=ID):
    done = run([*on(store, "history", run_id), "--json"], DONE)
    return [each["kind"] for each in json.loads(done.stdout)["events"]]


def finish(store, run_id=ID):
    run(on(store, "signal", run_id, "finish"), DONE)
    return json_of(store, "wait", run_id, *PATIENT)


def signals_are_taken_in_order(store):
    start(store)
    done = run(on(store, "signal", ID, "note", '"first"'), DONE)
    assert done.stdout == "signal 'note' for run 'talk-1': stored\n" and done.stderr == "", done
    told = json_of(store, "signal", ID, "note", '{"second": [1, null]}')
    assert told == {"id": ID, "signal": "note", "result": "stored"}, told
    for _ in range(2):  # the same request once more
        json_of(store, "signal", ID, "note", "3", "--request-id", "three")
    run(on(store, "signal", ID, "note", "-"), DONE, input="[4]")
    run(on(store, "signal", ID, "note"), DONE)
    run(on(store, "signal", ID, "note", "-6", "--delay", "1h"), DONE)
    with worker(store):
        assert words_of(store) == ["first", {"second": [1, None]}, 3, [4], None]
        assert finish(store)["output"] == 5


def signals_without_a_handler_are_kept_or_refused(store):
    start(store)
    run(on(store, "signal", ID, "sing", "1"), DONE)  # nobody can know yet what the code takes
    with worker(store):
        assert words_of(store) == []
        done = run(on(store, "signal", ID, "sing", "2"), NO_SUCH_RUN)
        assert "'sing'" in done.stderr and done.stdout == "", done
        run(on(store, "signal", ID, "note", "3"), DONE)
        assert words_of(store) == [3]
    assert kinds_of(store).count("signal_received") == 2


def updates_give_their_result(store):
    start(store)
    with worker(store):
        done = run(on(store, "update", ID, "append", '"tea"', *PATIENT), DONE)
        assert done.stdout == "1\n" and done.stderr == "", done
        milk = ["update", ID, "append", '"milk"', "--update-id", "m", *PATIENT]
        made = json_of(store, *milk)
        assert made == {"id": ID, "update": "append", "update_id": "m", "stage": "completed",
                        "result": 2}, made
        assert json_of(store, *milk) == made
        assert words_of(store) == ["tea", "milk"]
        made = json_of(store, "update", ID, "buy", "-", *PATIENT, input="250")
        assert made["result"] == 250 and made["update_id"].startswith("auto-"), made
        assert words_of(store) == ["tea", "milk", 250]
        assert run(on(store, "query", ID, "word", "1", *PATIENT), DONE).stdout == '"milk"\n'
        assert run(on(store, "update", ID, "forget", *PATIENT), DONE).stdout == "null\n"
        assert run(on(store, "query", ID, "words", *PATIENT), DONE).stdout == "[]\n"


def updates_go_on_when_nobody_waits(store):
    start(store)
    with worker(store):
        listen = ["update", ID, "listen"]
        done = run(on(store, *listen, "--wait", "accepted", *PATIENT), DONE)
        first = done.stdout.strip()
        assert first.startswith("auto-") and done.stderr == "", done
        made = json_of(store, *listen, "--wait", "accepted", "--update-id", "second", *PATIENT)
        assert made == {"id": ID, "update": "listen", "update_id": "second", "stage": "accepted",
                        "result": None}, made
        done = run(on(store, *listen, "--update-id", first, "--timeout", "20ms"), TIMED_OUT)
        assert first in done.stderr and "not done" in done.stderr and done.stdout == "", done
        run(on(store, "raise", ID, "answer", '"yes"'), DONE)
        done = run(on(store, *listen, "--update-id", first, *PATIENT), DONE)
        assert done.stdout == '"yes"\n', done
        # Main ends first: the second one is waited for.
        run(on(store, "signal", ID, "finish"), DONE)
        run(on(store, "raise", ID, "answer", '"no"'), DONE)
        assert json_of(store, *listen, "--update-id", "second", *PATIENT)["result"] == "no"
        assert json_of(store, "wait", ID, *PATIENT)["status"] == "completed"


def refusals_are_told(store):
    start(store)
    with worker(store):
        for command, code, named in (
                (["update", ID, "append", '""'], NO, "rejected: no_word: an empty text"),
                (["update", ID, "buy", "-1"], NO, "failed: no_funds: declined"),
                (["query", ID, "word", "7"], NO, "failed: "),
                (["update", ID, "sing"], NO_SUCH_RUN,
                 "no update 'sing'; it has 'append', 'buy', 'forget', 'listen'"),
                (["query", ID, "sing"], NO_SUCH_RUN, "no query 'sing'; it has 'word', 'words'"),
                (["update", ID, "append", "5"], USAGE, "the input of update 'append'"),
                (["query", ID, "word", '"x"'], USAGE, "the input of query 'word'"),
                (["query", "wait-1", "words"], NO_SUCH_RUN, "it has none"),
                (["update", "wait-1", "append"], NO_SUCH_RUN, "it has none")):
            for more in ([], ["--json"]):
                done = run([*on(store, *command, *PATIENT), *more], code)
                assert named in done.stderr and done.stdout == "", (command, done)
        assert words_of(store) == []
    # What was refused and what was asked left no trace.
    kinds = kinds_of(store)
    assert kinds.count("update_accepted") == 2 and kinds.count("update_failed") == 2, kinds


def ended_runs_can_still_be_asked(store):
    start(store)
    with worker(store):
        run(on(store, "update", ID, "append", '"tea"', *PATIENT), DONE)
        assert finish(store)["status"] == "completed"
        before = kinds_of(store)
        assert words_of(store) == ["tea"]
        assert kinds_of(store) == before
        for command in (["signal", ID, "note", "1"], ["update", ID, "append", '"x"']):
            done = run(on(store, *command), NO)
            assert "has ended" in done.stderr and done.stdout == "", done
        done = run(on(store, "query", "greet-1", "words", *PATIENT), NO_SUCH_RUN)
        assert "it has none" in done.stderr, done


def runs_that_nobody_serves(store):
    start(store)
    tea = ["update", ID, "append", '"tea"', "--update-id", "t"]
    for timeout in ("0s", "20ms"):
        done = run(on(store, *tea, "--timeout", timeout), TIMED_OUT)
        assert "'t'" in done.stderr and "worker" in done.stderr and done.stdout == "", done
    done = run(on(store, "query", ID, "words", "--timeout", "20ms"), TIMED_OUT)
    assert "worker" in done.stderr and done.stdout == "", done
    with worker(store):
        assert run(on(store, *tea, *PATIENT), DONE).stdout == "1\n"
        assert words_of(store) == ["tea"]


def runs_that_do_not_exist(store):
    for command in ("signal", "update", "query"):
        done = run(on(store, command, "none", "x"), NO_SUCH_RUN)
        assert "none" in done.stderr and done.stdout == "", done


def wrong_inputs_store_nothing(store):
    start(store)
    before = count_of(store, "orchestrator_queue"), count_of(store, "requests")
    for command in ("signal", "update", "query"):
        for payload, named in (("yes", "JSON: "), ('{"a":1,"a":2}', "twice"), ("1" * 30, "64 bits"),
                               ('"\\u0000"', "NUL")):
            done = run(on(store, command, ID, "words", payload), USAGE)
            assert named in done.stderr and done.stdout == "", (command, payload, done)
        done = run(on(store, command, ID, "words", "-"), USAGE, input="nonsense")
        assert "standard input: " in done.stderr, done
    assert (count_of(store, "orchestrator_queue"), count_of(store, "requests")) == before


def programs_of_users_have_the_same_commands(store):
    start(store)
    with worker(store):
        assert json_of(store, "signal", ID, "note", "1", program=RUNS)["result"] == "stored"
        made = json_of(store, "update", ID, "append", '"x"', *PATIENT, program=RUNS)
        assert made["result"] == 2, made
        assert json_of(store, "query", ID, "word", "0", *PATIENT, program=RUNS)["result"] == 1
    with contextlib.closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


run_cases((
    signals_are_taken_in_order,
    signals_without_a_handler_are_kept_or_refused,
    updates_give_their_result,
    updates_go_on_when_nobody_waits,
    refusals_are_told,
    ended_runs_can_still_be_asked,
    runs_that_nobody_serves,
    runs_that_do_not_exist,
    wrong_inputs_store_nothing,
    programs_of_users_have_the_same_commands))
