"""Compares docs/operations.md with what perdure settings --markdown prints, and the defaults in
docs/concurrency.md with that.

settings_page.py PERDURE           fails when they differ
settings_page.py PERDURE --write   brings the page up to date
"""

import difflib
import pathlib
import subprocess
import sys

PERDURE = sys.argv[1]
DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = DOCS / "operations.md"
OPEN, CLOSE = "<!-- settings -->\n", "<!-- end -->\n"


def rows(text):
    """The cells of the tables in a page."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def wrong_defaults(printed):
    """What the table of docs/concurrency.md says that is not so."""
    defaults = {row[0]: row[1] for row in rows(printed)}
    table = (DOCS / "concurrency.md").read_text(encoding="utf-8").split("## Configuration\n")[1]
    shown = rows(table)[1:]
    wrong = [f"{row[1]} is {row[2]}" for row in shown if defaults.get(row[1]) != row[2]]
    return wrong if shown else ["no table"]


def main():
    printed = subprocess.run([PERDURE, "settings", "--markdown"], capture_output=True, text=True,
                             check=True, timeout=100).stdout
    text = PAGE.read_text(encoding="utf-8")
    if text.count(OPEN) != 1 or text.count(CLOSE) != 1 or text.index(OPEN) > text.index(CLOSE):
        print(f"docs/operations.md must have {OPEN.strip()}, and {CLOSE.strip()} after it, once")
        return 1
    before, rest = text.split(OPEN)
    shown, after = rest.split(CLOSE)
    wanted = f"\n{printed}\n"
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(before + OPEN + wanted + CLOSE + after, encoding="utf-8")
        return 0
    wrong = wrong_defaults(printed)
    if wrong:
        print("docs/concurrency.md says what is not so: " + ", ".join(wrong))
        return 1
    if shown == wanted:
        return 0
    print("".join(difflib.unified_diff(shown.splitlines(True), wanted.splitlines(True),
                                       "docs/operations.md", "perdure settings --markdown")))
    print(f"docs/operations.md is not up to date. Run: python3 tests/cli/settings_page.py {PERDURE} "
          "--write")
    return 1


sys.exit(main())
