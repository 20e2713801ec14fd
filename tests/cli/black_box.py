"""Runs the perdure program from outside: black_box.py PROGRAM VERSION."""

import subprocess
import sys

PROGRAM, VERSION = sys.argv[1:3]


def expect(arguments, code, stdout=None, stderr_has=""):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    shown = f"perdure {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, shown
    assert stdout is None or done.stdout == stdout, shown
    assert stderr_has in done.stderr, shown
    return done.stdout


expect(["--version"], 0, stdout=f"perdure {VERSION}\n")
assert "--version" in expect(["--help"], 0)
assert "--help" in expect([], 0)
expect(["--no-such-option"], 2, stdout="", stderr_has="--no-such-option")
expect(["no-such-command"], 2, stdout="", stderr_has="no-such-command")
