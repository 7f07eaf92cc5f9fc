"""Finds words that Weir does not use, in texts that people read: string literals and comments of the sources, comments
of tests and benchmarks, and pages.

Each rule is a pattern and what to write instead. A line that must quote one of them says so, `wording: allow`; several
lines are enclosed in `wording: off` and `wording: on`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOW = "wording: allow"

# Patterns for every text.
TEXT = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in [
    (r"\b(?:is|are|was|were|being|store) away\b", "unavailable"),
    (r"\b(?:in|into) force\b", "active, in effect"),
    (r"\bused up\b", "exceeded, exhausted"),
    (r"\bstarts? afresh\b", "starts over, is reset"),
    (r"\bfor want of\b", "because there is no"),
    (r"\bof late\b", "recently"),
    (r"\bnobody listens\b", "connection refused"),
    (r"\bwhoever\b", "name the client or the caller"),
    (r"\b(?:is|are|was|were) there twice\b", "duplicate"),
    (r"\b(?:has|have) to be\b", "must be"),
    (r"\bis no (?:parameter|command|field|limit|algorithm|option|tier|number|name|address|rate|route|method)\b",
     "unknown, not a"),
    (r"\bwhat was counted\b", "the counts, the snapshot"),
    (r"\bjudg(?:e|es|ed|ing)\b", "evaluate, decide"),
    (r"\blaps(?:e|es|ed|ing)\b", "expire"),
    (r"\bcut off\b", "closed"),
    (r"\bcounts? first\b", "takes precedence"),
    (r"\bits? is over\b|\btime is over\b", "expired"),
    (r"\b(?:be|is|are) told\b", "name what is reported, and to whom"),
    (r"\bso many (?:a|an|per)\b", "once per, N per"),
    (r"\bnought\b", "zero"),
    (r"\bread again and\b", "reloaded"),
    (r"\bmeanwhile\b", "until then, while X"),
]]

# Patterns for identifiers.
NAME = [(re.compile(pattern), instead) for pattern, instead in [
    (r"\b(?:most|least|longest|shortest)_[a-z]\w*", "max_, min_"),
    (r"\b(?:heed|let_go|say_plainly|put_into_force|patience|serve_stirred|older_triple)\w*\b", "see CONTRIBUTING.md, Wording"),
    (r"\bSurroundings\b", "FrontendDependencies"),
]]

SOURCES = ("src/**/*.h", "src/**/*.cpp", "src/**/*.lua", "src/**/*.js", "src/**/*.html", "include/**/*.h", "app/*.h", "app/*.cpp",
           "clients/**/*.py", "clients/**/*.js", "clients/**/*.ts", "clients/**/*.go")
PAGES = ("*.md", "docs/*.md", "docs/*.yaml", "docs/decisions/*.md", "examples/**/*.*", "clients/**/*.md", "deploy/**/*.*", "script/*")
TESTS = ("tests/**/*.h", "tests/**/*.cpp", "tests/**/*.py", "tests/**/CMakeLists.txt", "bench/**/*.h", "bench/**/*.cpp",
         "bench/**/*.py", "bench/**/CMakeLists.txt", "cmake/*", "CMakeLists.txt", ".clang-tidy")
SKIPPED = {"node_modules", "__pycache__", "wording.py", "wording_test.py"}
COMMENT = re.compile(r'"""(?:.|\n)*?"""|(?:^|(?<=\s))(?://|#)\s.*$', re.MULTILINE)


def findings_in(text, rules):
    is_on = True
    for number, line in enumerate(text.splitlines(), 1):
        is_on = (is_on or "wording: on" in line) and "wording: off" not in line
        if not is_on or ALLOW in line:
            continue
        for pattern, instead in rules:
            if found := pattern.search(line):
                yield number, found.group(0), instead


def comments_of(text):
    """Returns the text with everything except comments and docstrings removed. Lines keep their numbers."""
    found = COMMENT.finditer(text)
    end, kept = 0, []
    for comment in found:
        kept += ["\n" * text.count("\n", end, comment.start()), comment.group(0)]
        end = comment.end()
    return "".join(kept)


def findings(root=ROOT):
    for globs, rules, texts in ((SOURCES, TEXT + NAME, str), (PAGES, TEXT, str), (TESTS, TEXT, comments_of)):
        for path in sorted({path for glob in globs for path in root.glob(glob)}):
            if not path.is_file() or path.name == "CHANGELOG.md" or not SKIPPED.isdisjoint(path.parts):
                continue
            for number, found, instead in findings_in(texts(path.read_text(errors="replace")), rules):
                yield f"{path.relative_to(root)}:{number}: '{found}': write {instead}"


if __name__ == "__main__":
    found = list(findings())
    print("\n".join(found))
    sys.exit(1 if found else 0)
