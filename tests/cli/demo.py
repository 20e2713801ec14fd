"""Runs `perdure demo` from outside: demo.py PROGRAM.

No speed is judged: what is looked at is what the demo says, whether the store agrees, and what is
left behind. The cases run beside each other, since a demo mostly waits.
"""

import concurrent.futures
import os
import pathlib
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
PATIENCE = 300
COMPLETED, CANCELED = 5, 7  # docs/storage-format.md
SCHEDULED, DONE, UNDO, UNDONE = 10, 11, 50, 51
LINES = (
    r"1\. A worker is killed in the midst of a step",
    r"store +order-1001 is started, 49\.90 to pay",
    r"worker (?P<first>\d+) +is up",
    r"worker (?P=first) +charge: 49\.90 charged",
    r"kill -9 (?P=first) +in the midst of pack, \d+ of 40 done",
    r"store +order-1001 is still running: charge completed, pack not$",
    r"worker (?P<second>\d+) +is up",
    r"worker (?P=second) +takes pack over .* ms after the kill",
    r"worker (?P=second) +pack: everything is in its box",
    r"worker (?P=second) +ship: handed over as parcel-1001",
    r"store +order-1001 completed: r-1001, parcel-1001, charge ran once",
    r"2\. An order is canceled while work for it runs",
    r"worker (?P=second) +charge: 129\.00 charged",
    r"cancel +order-1002: \"the customer changed their mind\", stored in .* ms",
    r"worker (?P=second) +pack stops .* ms after the call, with \d+ of 40 done",
    r"worker (?P=second) +refund: 129\.00 given back",
    r"store +order-1002 canceled: the customer changed their mind",
    r"Seen in .* s, and checked against the store",
    r"Next",
)


def environment(folder):
    return {**os.environ, "TMPDIR": str(folder)}


def start(folder, *arguments, **more):
    """A demo whose temporary files go to `folder`, in a place where nobody can write."""
    return subprocess.Popen(
        [PROGRAM, "demo", *arguments], env=environment(folder), cwd="/proc",
        stdin=subprocess.DEVNULL, text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})


def read_until(demo, pattern):
    """The match in the line that has it."""
    for line in demo.stdout:
        found = re.search(pattern, line)
        if found:
            return found
    raise AssertionError(f"the demo ended without: {pattern}\n{demo.stderr.read()}")


def processes_of(folder):
    """Workers name their store in their arguments."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            pass  # it has ended meanwhile
    return found


def check_nothing_left(folder):
    assert processes_of(folder) == [], "a process was left"
    assert list(folder.iterdir()) == [], f"left: {list(folder.rglob('*'))}"


def check_story(text):
    """Each of LINES is there, in that order; groups hold for the lines that follow."""
    lines = iter(text.split("\n"))
    known = {}
    for wanted in LINES:
        pattern = re.sub(r"\(\?P=(\w+)\)", lambda name: known[name[1]], wanted)
        found = next(filter(None, (re.search(pattern, line) for line in lines)), None)
        assert found, f"no '{pattern}' in its place in:\n{text}"
        known.update(found.groupdict())
    assert known["first"] != known["second"], text


def check_store(store):
    """What the demo told, asked from the store itself."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as rows:
        ends = dict(rows.execute(
            "select id, status from instances join executions using (instance_key)"))
        assert ends == {"order-1001": COMPLETED, "order-1002": CANCELED}, ends
        reasons = rows.execute("select cancel_reason from executions where status = ?", (CANCELED,))
        assert reasons.fetchall() == [("the customer changed their mind",)]
        events = rows.execute(
            "select i.id, h.kind, coalesce(h.name, s.name) from history h"
            " join instances i using (instance_key) left join history s"
            " on s.instance_key = h.instance_key and s.event_id = h.source_event"
            f" where h.kind in ({SCHEDULED}, {DONE}, {UNDO}, {UNDONE}) order by i.id, h.event_id")
        assert events.fetchall() == [
            ("order-1001", SCHEDULED, "charge"), ("order-1001", DONE, "charge"),
            ("order-1001", SCHEDULED, "pack"), ("order-1001", DONE, "pack"),
            ("order-1001", SCHEDULED, "ship"), ("order-1001", DONE, "ship"),
            ("order-1002", SCHEDULED, "charge"), ("order-1002", DONE, "charge"),
            ("order-1002", SCHEDULED, "pack"),
            ("order-1002", UNDO, "refund"), ("order-1002", UNDONE, "refund")]


def tells_and_leaves_nothing(folder):
    demo = start(folder)
    out, err = demo.communicate(timeout=PATIENCE)
    assert (demo.returncode, err) == (0, ""), (demo.returncode, out, err)
    assert "\x1b" not in out and "\r" not in out, out
    check_story(out)
    check_nothing_left(folder)


def on_a_terminal_and_kept(folder):
    parent, child = pty.openpty()
    demo = start(folder, "--keep", stdout=child)
    os.close(child)
    shown = b""
    while True:
        try:
            shown += os.read(parent, 4096)
        except OSError:  # the demo has closed its end
            break
    os.close(parent)
    assert demo.wait(PATIENCE) == 0, (shown, demo.stderr.read())
    demo.stderr.close()
    text = shown.decode()
    assert "\x1b[K" in text and "[##########..............................]" in text, text
    plain = re.sub(r"\x1b\[[0-9;]*[mK]|[^\n]*\r(?!\n)", "", text).replace("\r\n", "\n")
    check_story(plain)
    store = re.search(r"perdure list --provider sqlite:(\S+)\n", plain)[1]
    check_store(store)
    removal = re.search(r"Remove it: rm -r (\S+)\n", plain)[1]
    assert pathlib.Path(store).parent == pathlib.Path(removal), plain
    assert list(folder.iterdir()) == [pathlib.Path(removal)], list(folder.iterdir())
    assert processes_of(folder) == [], "a process was left"


def a_store_of_the_users_own(folder):
    store = folder / "mine.db"
    temporary = folder / "tmp"
    temporary.mkdir()
    demo = start(temporary, "--provider", f"sqlite:{store}")
    out, err = demo.communicate(timeout=PATIENCE)
    assert (demo.returncode, err) == (0, ""), (demo.returncode, out, err)
    assert f"perdure list --provider sqlite:{store}\n" in out, out
    check_store(store)
    check_nothing_left(temporary)

    again = start(temporary, "--provider", f"sqlite:{store}")
    out, err = again.communicate(timeout=PATIENCE)
    assert again.returncode == 1, out
    assert "order-1001 is in this store already" in err, err
    check_store(store)
    check_nothing_left(temporary)


def interrupted(folder, number, to_all):
    demo = start(folder, start_new_session=True)
    read_until(demo, r"charge: ")
    if to_all:
        os.killpg(demo.pid, number)  # as Ctrl-C in a terminal does
    else:
        demo.send_signal(number)
    out, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 128 + number, (demo.returncode, out, err)
    assert err == "\nperdure demo: interrupted; nothing is left behind\n", err
    check_nothing_left(folder)


def killed(folder):
    demo = start(folder)
    read_until(demo, r"is up")
    demo.kill()
    demo.communicate(timeout=PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while processes_of(folder):
        assert time.monotonic() < deadline, "the worker outlives the demo"
        time.sleep(0.01)


def nobody_reads_on(folder):
    demo = start(folder)
    read_until(demo, r"is up")
    demo.stdout.close()
    assert demo.wait(PATIENCE) == 1
    assert "standard output was closed" in demo.stderr.read()
    demo.stderr.close()
    check_nothing_left(folder)


def a_worker_that_dies_by_itself(folder):
    demo = start(folder)
    worker = int(read_until(demo, r"worker (\d+) +is up")[1])
    os.kill(worker, signal.SIGKILL)
    out, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 1, out
    assert f"worker {worker} was ended by signal 9" in err and "Seen" not in out, (out, err)
    check_nothing_left(folder)


def refused(folder):
    for arguments, code, named in (
            (["--provider", "sqlite::memory:"], 2, "sqlite:PATH"),
            (["--provider", "tape:x"], 2, "sqlite:PATH"),
            (["--provider", f"sqlite:{folder}/none/x"], 1, "none"),
            (["--serve-for", "1"], 2, "--provider"),
            (["again"], 2, "again")):
        demo = start(folder, *arguments)
        _, err = demo.communicate(timeout=PATIENCE)
        assert demo.returncode == code and named in err, (arguments, demo.returncode, err)
        check_nothing_left(folder)
    demo = start(folder / "none")
    _, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 1 and "TMPDIR" in err, err
    closed = subprocess.run(["sh", "-c", 'exec "$0" demo >&-', PROGRAM], env=environment(folder),
                            stderr=subprocess.PIPE, text=True, check=False)
    assert closed.returncode == 1 and "standard output was closed" in closed.stderr, closed
    check_nothing_left(folder)


def help_hides_the_worker(folder):
    shown = start(folder, "--help").communicate(timeout=PATIENCE)[0]
    assert "--keep" in shown and "--serve-for" not in shown, shown


CASES = (
    tells_and_leaves_nothing, on_a_terminal_and_kept, a_store_of_the_users_own,
    lambda folder: interrupted(folder, signal.SIGINT, to_all=True),
    lambda folder: interrupted(folder, signal.SIGTERM, to_all=False),
    killed, nobody_reads_on, a_worker_that_dies_by_itself, refused, help_hides_the_worker)


def run(case):
    with tempfile.TemporaryDirectory() as scratch:
        case(pathlib.Path(scratch))


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    list(pool.map(run, CASES))
