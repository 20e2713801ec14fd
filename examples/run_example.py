"""Runs an example in memory and on a file, and compares what it prints with the end of its source.

usage: run_example.py PROGRAM SOURCE
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def expected_output(source):
    """The lines of the comment `// Prints:` that ends the file."""
    _, found, tail = source.read_text(encoding="utf-8").partition("\n// Prints:\n")
    if not found or not tail:
        sys.exit(f"{source}: does not end with '// Prints:' and the lines it prints")
    lines = tail.splitlines()
    for line in lines:
        if not line.startswith("//   "):
            sys.exit(f"{source}: a line behind '// Prints:' does not begin with '//   ': {line}")
    return "".join(line.removeprefix("//   ") + "\n" for line in lines)


def run(program, arguments, expected):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} {arguments}: exit code {done.returncode}\n{done.stdout}")
    if done.stdout != expected:
        sys.exit(f"{program} {arguments}: printed\n{done.stdout}-- expected\n{expected}")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    program, source = arguments
    expected = expected_output(Path(source))
    run(program, [], expected)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        run(program, [f"sqlite:{store}"], expected)
        if not store.is_file():
            sys.exit(f"{program}: did not use the store that it was given")


if __name__ == "__main__":
    main(sys.argv[1:])
