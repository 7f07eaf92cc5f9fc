"""weir completion: the scripts in real shells."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import program
from program import PROGRAM, ProgramTest, run

COMMANDS = ["serve", "status", "health", "top", "peek", "reset", "reload", "hash", "override", "grant", "block", "unblock",
            "lint", "explain", "test", "diff", "simulate", "init", "schema", "demo", "completion", "man", "help"]


class Bash(ProgramTest):
    def bash(self, script, folder=None):
        ran = subprocess.run(["bash", "--norc", "-c", f"source <({PROGRAM} completion bash)\n{script}"],
                             capture_output=True, text=True, timeout=60, cwd=folder or program.ROOT)
        self.assertEqual(ran.stderr, "")
        return ran.stdout

    def complete(self, *words, folder=None):
        """Returns the completions of the last word, sorted."""
        quoted = " ".join(f"'{word}'" for word in ("weir", *words))
        found = self.bash(f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _weir; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                          folder)
        return sorted(found.split("\n")[:-1]) if found.strip() else []

    def test_it_is_active(self):
        self.assertEqual(self.bash("complete -p weir"), "complete -F _weir weir\n")

    def test_it_is_clean(self):
        if not shutil.which("shellcheck"):
            self.skipTest("no shellcheck")
        ran = subprocess.run(["shellcheck", "--shell=bash", "--exclude=SC2207", "-"], input=run("completion", "bash").stdout,
                             capture_output=True, text=True)
        self.assertEqual(ran.stdout, "")

    def test_commands(self):
        self.assertEqual(self.complete(""), sorted([*COMMANDS, "-h", "--help", "--version"]))
        self.assertEqual(self.complete("d"), ["demo", "diff"])
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_options_of_a_command(self):
        self.assertEqual(self.complete("lint", "-"), ["--config", "--format", "--help", "--list", "--merge-domains",
                                                       "--strict", "-h"])
        self.assertEqual(self.complete("lint", "policy.yaml", "--s"), ["--strict"])
        self.assertEqual(self.complete("simulate", "--re"), ["--reorder", "--report"])

    def test_words_of_an_option(self):
        self.assertEqual(self.complete("lint", "--format", ""), ["github", "json", "text"])
        self.assertEqual(self.complete("diff", "--format", "m"), ["markdown"])
        self.assertEqual(self.complete("diff", "--format", "=", "m"), ["markdown"])
        self.assertEqual(self.complete("diff", "--format", "="), ["json", "markdown", "text"])
        self.assertEqual(self.complete("completion", ""), ["bash", "fish", "zsh"])

    def test_files(self):
        folder = self.folder()
        for name in ["a policy.yaml", "access.log"]:
            (folder / name).touch()
        self.assertEqual(self.complete("lint", "a", folder=folder), ["a policy.yaml", "access.log"])
        self.assertEqual(self.complete("lint", "b.yaml", "ac", folder=folder), ["access.log"])
        self.assertEqual(self.complete("simulate", "p.yaml", "--log", "", folder=folder), ["a policy.yaml", "access.log"])
        self.assertEqual(self.complete("init", "--from", "ac", folder=folder), ["access.log"])
        self.assertEqual(self.complete("reset", "api", "alice", "--token-file", "ac", folder=folder), ["access.log"])

    def test_what_only_the_user_knows(self):
        self.assertEqual(self.complete("explain", "policy.yaml", "--request", ""), [])
        self.assertEqual(self.complete("demo", ""), [])


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class Zsh(ProgramTest):
    """An interactive zsh in a pseudo-terminal, with Tab pressed."""

    def setUp(self):
        self.home = self.folder()
        (self.home / "weir").symlink_to(PROGRAM)
        (self.home / "_weir").write_text(run("completion", "zsh").stdout)
        for name in ["policy.yaml", "access.log"]:
            (self.home / name).touch()

    def shown(self, typed, load="fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u"):
        """Returns what the screen shows after `typed`, without escape sequences; several choices are listed."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.home)
            os.environ.update(PATH=f"{self.home}:{os.environ['PATH']}", TERM="dumb", HOME=str(self.home), COLUMNS="200")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        try:
            self.send(terminal, f"PS1=; unset zle_bracketed_paste; LISTMAX=1000; setopt auto_list no_beep; {load}; print READ''Y\n")
            self.read_until(terminal, "READY")
            self.send(terminal, typed + "\t")
            return self.read_until(terminal, None)
        finally:
            os.close(terminal)
            os.waitpid(process, 0)

    def send(self, terminal, text):
        os.write(terminal, text.encode())

    def read_until(self, terminal, word, patience=20):
        """Reads until `word` appears, or until there is output followed by a pause."""
        text = ""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            pause = 0.2 if word else 1.5
            if select.select([terminal], [], [], pause)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
            elif word is None and text:
                break
            if word and word in text:
                break
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x08|\x07", "", text)

    def test_commands(self):
        self.assertIn("weir explain ", self.shown("weir exp"))
        shown = self.shown("weir ")
        for command in COMMANDS:
            self.assertIn(command, shown)

    def test_options_and_their_words(self):
        self.assertIn("weir lint --strict ", self.shown("weir lint --s"))
        self.assertIn("weir diff --format markdown ", self.shown("weir diff --format m"))
        self.assertIn("weir diff --format=markdown ", self.shown("weir diff --format=m"))
        self.assertIn("weir completion zsh ", self.shown("weir completion z"))

    def test_files(self):
        self.assertIn("weir lint policy.yaml ", self.shown("weir lint pol"))
        self.assertIn("weir simulate policy.yaml --log access.log ", self.shown("weir simulate policy.yaml --log acc"))

    def test_it_may_be_sourced(self):
        load = "autoload -Uz compinit; compinit -D -u; source <(./weir completion zsh)"
        self.assertIn("weir schema ", self.shown("weir sc", load))


@unittest.skipUnless(shutil.which("fish"), "no fish")
class Fish(ProgramTest):
    """`complete --do-complete` prints what fish would offer for a line."""

    def setUp(self):
        self.home = self.folder()
        for name in ["policy.yaml", "access.log"]:
            (self.home / name).touch()

    def fish(self, script):
        ran = subprocess.run(["fish", "--no-config", "-c", f"{PROGRAM} completion fish | source\n{script}"], cwd=self.home,
                             env={**os.environ, "HOME": str(self.home)}, capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def complete(self, line):
        """Returns the completions of the last word, sorted, without descriptions. fish 4 adds words that only contain
        it."""
        found = self.fish(f"complete --do-complete {repr(line)}")
        begun = line.rpartition(" ")[2]
        return sorted(each.split("\t")[0] for each in found.splitlines() if each.startswith(begun))

    def test_commands(self):
        self.assertEqual(self.complete("weir "), sorted(COMMANDS))
        self.assertEqual(self.complete("weir d"), ["demo", "diff"])
        self.assertIn("serve\tRun the server", self.fish("complete --do-complete 'weir ser'"))
        self.assertEqual(self.complete("weir --v"), ["--version"])

    def test_options_and_their_words(self):
        self.assertEqual(self.complete("weir lint --s"), ["--strict"])
        self.assertEqual(self.complete("weir --s"), [])
        self.assertEqual(self.complete("weir diff --format "), ["json", "markdown", "text"])
        self.assertEqual(self.complete("weir diff --format=m"), ["--format=markdown"])
        self.assertEqual(self.complete("weir completion "), ["bash", "fish", "zsh"])

    def test_files(self):
        self.assertEqual(self.complete("weir lint pol"), ["policy.yaml"])
        self.assertEqual(self.complete("weir simulate policy.yaml --log acc"), ["access.log"])
        self.assertEqual(self.complete("weir explain policy.yaml --request "), [])
        self.assertEqual(self.complete("weir demo "), [])


if __name__ == "__main__":
    program.main()
