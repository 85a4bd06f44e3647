"""What the checks share: finding our sources, and reading C++ without being fooled by comments and strings."""

import re
from pathlib import Path

CODE_FOLDERS = ("src", "tests", "bench", "fuzz")
CODE_SUFFIXES = (".h", ".cc")


def code_files(root):
    """Every C++ file of ours under `root`, sorted."""
    found = []
    for folder in CODE_FOLDERS:
        found += [p for p in (root / folder).rglob("*") if p.suffix in CODE_SUFFIXES and p.is_file()]
    return sorted(found)


_TOKEN = re.compile(
    r"""
    (?P<raw>\bR"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)")
  | (?P<line>//(?:[^\\\n]|\\.|\\\n)*)
  | (?P<block>/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
  | (?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+')
    """,
    re.VERBOSE | re.DOTALL,
)


def blank_comments(text):
    """`text` with comments turned into blanks; strings stay. Line numbers stay."""
    return _blank(text, ("line", "block"))


def blank_comments_and_strings(text):
    """`text` with comments and the insides of strings turned into blanks. Line numbers stay."""
    return _blank(text, ("line", "block", "raw", "string", "char"))


def _blank(text, kinds):
    def replace(match):
        if match.lastgroup == "delimiter" or match.group("raw"):
            kind = "raw"
        else:
            kind = match.lastgroup
        if kind not in kinds:
            return match.group(0)
        blank = re.sub(r"[^\n]", " ", match.group(0))
        if kind in ("line", "block"):
            return blank
        quote = "'" if kind == "char" else '"'
        return quote + blank[1:-1] + quote if len(blank) >= 2 else blank

    return _TOKEN.sub(replace, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Report:
    """Collects complaints as `file:line: words` and turns them into an exit status."""

    def __init__(self, root, name):
        self.root = root
        self.name = name
        self.errors = 0
        self.warnings = 0

    def error(self, path, line, words):
        self.errors += 1
        print(f"{self._place(path, line)}: {words}")

    def warn(self, path, line, words):
        self.warnings += 1
        print(f"{self._place(path, line)}: warning: {words}")

    def finish(self, checked):
        warned = f", {self.warnings} warnings" if self.warnings else ""
        print(f"{self.name}: {checked} checked, {self.errors} errors{warned}")
        return 1 if self.errors else 0

    def _place(self, path, line):
        path = Path(path)
        shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return f"{shown}:{line}" if line else f"{shown}"


def root_argument(parser):
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the tree to check (default: the one this tool stands in)")
