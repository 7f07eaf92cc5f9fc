"""Runs a program in a pseudo-terminal and interprets its output: only the few escape sequences that `weir top` uses."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import server

SEQUENCE = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])")


class Screen:
    """The contents of a terminal of that size."""

    def __init__(self, columns, rows):
        self.is_other = False  # the alternate screen
        self.has_cursor = True
        self.inks = set()  # colours and other attributes, by their codes
        self.unknown = []  # unknown sequences
        self.beyond = []  # text that did not fit
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    @property
    def lines(self):
        return ["".join(line).rstrip() for line in self.cells]

    @property
    def text(self):
        return "\n".join(self.lines)

    def feed(self, text):
        """Returns what may be the beginning of a sequence."""
        while text:
            if text[0] == "\x1b":
                found = SEQUENCE.match(text)
                if not found and len(text) < 16:
                    return text
                if not found:
                    self.unknown.append(text[:16])
                    text = text[1:]
                    continue
                self.obey(*found.groups())
                text = text[found.end():]
                continue
            self.put(text[0])
            text = text[1:]
        return ""

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row = min(self.row + 1, self.rows - 1)
        elif not character.isprintable():
            self.unknown.append(character)
        elif self.row < self.rows and self.column < self.columns:
            self.cells[self.row][self.column] = character
            self.column += 1
        else:
            self.beyond.append((character, self.row, self.column))

    def obey(self, private, numbers, letter):
        match private + letter, numbers:
            case "?h", "1049":
                self.is_other = True
            case "?l", "1049":
                self.is_other = False
            case "?h", "25":
                self.has_cursor = True
            case "?l", "25":
                self.has_cursor = False
            case "J", "2":
                self.clear()
            case "K", "2":
                if self.row < self.rows:
                    self.cells[self.row] = [" "] * self.columns
            case "H", _:
                self.row, self.column = (int(number) - 1 for number in numbers.split(";"))
            case "m", _:
                self.inks.add(numbers)
            case _:
                self.unknown.append(f"{private}{numbers}{letter}")


class Terminal:
    """A program in its own terminal, whose settings are compared at the end with those of the start."""

    def __init__(self, *arguments, columns=80, rows=24, environment=None):
        self.leader, self.follower = pty.openpty()
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(self.follower)
        self.screen = Screen(columns, rows)
        self.rest = b""
        self.begun = ""
        self.process = subprocess.Popen(
            [server.PROGRAM, *arguments], stdin=self.follower, stdout=self.follower, stderr=self.follower,
            start_new_session=True, preexec_fn=self.make_controlling,
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})})

    def make_controlling(self):
        fcntl.ioctl(self.follower, termios.TIOCSCTTY, 0)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        """The kernel notifies the program with SIGWINCH."""
        self.screen.resize(columns, rows)
        self.set_size(columns, rows)

    def type(self, keys):
        os.write(self.leader, keys.encode())

    def read(self, patience):
        if not select.select([self.leader], [], [], patience)[0]:
            return False
        self.rest += os.read(self.leader, 65536)
        text = self.rest.decode(errors="ignore")
        self.rest = self.rest[len(text.encode()):]
        self.begun = self.screen.feed(self.begun + text)
        return True

    def until(self, condition, what):
        """Reads until the condition is true for the screen."""
        deadline = time.monotonic() + server.PATIENCE
        while not (found := condition(self.screen)):
            if time.monotonic() > deadline:
                raise AssertionError(f"never came: {what}\n{self.screen.text}")
            self.read(0.1)
        return found

    def shows(self, *parts):
        return self.until(lambda screen: all(part in screen.text for part in parts), f"{parts}")

    def line(self, beginning):
        """Returns the line that begins with this text."""
        found = self.until(lambda screen: [line for line in screen.lines if line.startswith(beginning)], beginning)
        return found[0]

    def end(self):
        """Returns the exit code, after all output was read."""
        deadline = time.monotonic() + server.PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.05)
        code = self.process.wait(1)
        while self.read(0):
            pass
        return code

    @property
    def settings(self):
        return termios.tcgetattr(self.follower)

    @property
    def is_as_before(self):
        return self.settings == self.before and not self.screen.is_other and self.screen.has_cursor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(server.PATIENCE)
        os.close(self.leader)
        os.close(self.follower)
