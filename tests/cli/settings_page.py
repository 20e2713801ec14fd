"""Compares docs/operations.md with what perdure settings --markdown prints.

settings_page.py PERDURE           fails when they differ
settings_page.py PERDURE --write   brings the page up to date
"""

import difflib
import pathlib
import subprocess
import sys

PERDURE = sys.argv[1]
PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "operations.md"
OPEN, CLOSE = "<!-- settings -->\n", "<!-- end -->\n"


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
    if shown == wanted:
        return 0
    print("".join(difflib.unified_diff(shown.splitlines(True), wanted.splitlines(True),
                                       "docs/operations.md", "perdure settings --markdown")))
    print(f"docs/operations.md is not up to date. Run: python3 tests/cli/settings_page.py {PERDURE} "
          "--write")
    return 1


sys.exit(main())
