"""What the tools' tests share: a throw-away tree, and running a tool on it as a person would."""

import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def run_tool(self, name, *arguments):
        """(exit status, lines of output) of the tool on the tree."""
        done = subprocess.run([TOOLS / name, "--root", self.root, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "", "a tool reports on stdout and never fails with a traceback")
        return done.returncode, done.stdout.splitlines()

    def assert_clean(self, name):
        status, lines = self.run_tool(name)
        self.assertEqual((status, lines[:-1]), (0, []))

    def assert_finds(self, name, *places_and_words):
        """The tool fails with exactly these complaints: each expected (`file:line`, words) has a line of its own."""
        status, lines = self.run_tool(name)
        self.assertEqual(status, 1, lines)
        self.assertEqual(len(lines) - 1, len(places_and_words), lines)
        for (place, words), line in zip(sorted(places_and_words), sorted(lines[:-1])):
            self.assertTrue(line.startswith(place + ": "), (place, line))
            self.assertIn(words, line)
