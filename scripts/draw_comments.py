"""Draws comments and error texts of the sources at random, each with the code that it belongs to.

    draw_comments.py [--seed N] [--comments 300] [--errors 100] [FOLDER ...]

A reader who does not know the code reads each of them once and notes those that had to be read twice or were misread. Under 2 in 100
is the measure; what fails is rewritten, and another seed is drawn. Folders are crates/ and python/ unless named.
"""

import argparse
import io
import random
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A literal of Rust on one or more lines, without raw ones.
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
#: What makes an error text of a literal: one of these within the statement before it.
MAKES_ERROR = re.compile(r"Error::|Failure|Err\(|ok_or|refuse|broken|unsupported|usage\(|wrong|hint", re.IGNORECASE)


def without_tests(text: str) -> str:
    """A Rust file without the module of tests at its end.

    >>> without_tests("fn a() {}\\n#[cfg(test)]\\nmod tests { }")
    'fn a() {}\\n'
    """
    return re.split(r"#\[cfg\((?:all\()?test[^\n]*\n(?:#\[[^\n]*\n)*mod \w+ \{", text)[0]


def rust_comments(text: str) -> list[tuple[int, str, str]]:
    """The comments of a Rust file: number of the first line, words, and the next line of code.

    >>> rust_comments("/// Adds.\\n///\\n/// ```\\n/// add(1);\\n/// ```\\nfn add() {}\\nlet x = 1; // one\\n")
    [(1, 'Adds.', 'fn add() {}'), (7, 'one', 'let x = 1;')]
    """
    found, lines = [], text.split("\n")
    block: list[str] = []
    start, fenced = 0, False
    for n, line in enumerate([*lines, ""], 1):
        comment = re.match(r"\s*//[/!]? ?(.*)", line)
        if comment:
            start = start or n
            if comment[1].lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced and not comment[1].lstrip().startswith("|"):
                block.append(comment[1].strip())
            continue
        words = " ".join(part for part in block if part)
        if words:
            if line.lstrip().startswith("#"):
                continue
            found.append((start, words, line.strip()))
        block, start, fenced = [], 0, False
        trailing = re.match(r"(\s*\S.*?) // (.*)", line)
        if trailing and trailing[1].count('"') % 2 == 0:
            found.append((n, trailing[2].strip(), trailing[1].strip()))
    return found


def rust_errors(text: str) -> list[tuple[int, str, str]]:
    """The error texts of a Rust file."""
    code = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    found = []
    for literal in LITERAL.finditer(code):
        words = re.sub(r"\\\n\s*", "", literal[1])
        before = re.split(r"[;{}]\s*\n", code[max(0, literal.start() - 300) : literal.start()])[-1]
        if len(words.split()) >= 3 and MAKES_ERROR.search(before) and "reason = " not in before[-12:]:
            line = code[: literal.start()].count("\n") + 1
            found.append((line, words, " ".join(before.split())[-120:]))
    return found


def python_comments(text: str) -> list[tuple[int, str, str]]:
    """Comments and docstrings of a Python file, without their examples."""
    lines = text.split("\n")
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at = token.start[0]
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            words = token.string.lstrip("#: ")
            own = lines[at - 1][: token.start[1]].strip()
            found.append((at, words, own or next((line.strip() for line in lines[at:] if line.strip()), "")))
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            words = " ".join(re.split(r"\n\s*>>> ", token.string.strip('"'))[0].split())
            found.append((at, words, lines[at - 2].strip()))
    return [entry for entry in found if entry[1]]


def python_errors(text: str) -> list[tuple[int, str, str]]:
    found = []
    for match in re.finditer(r"raise (\w+)\(\s*((?:f?\"[^\n]*\"\s*)+)", text):
        found.append((text[: match.start()].count("\n") + 1, " ".join(match[2].split()), match[1]))
    return found


def collect(folders: list[Path]) -> tuple[list[str], list[str]]:
    comments, errors = [], []
    for path in sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in (".rs", ".py")):
        name = path.relative_to(ROOT).as_posix()
        if re.search(r"/tests?(/|\.rs)|_tests\.rs|/target/|/examples/", name):
            continue
        text = path.read_text()
        if path.suffix == ".rs":
            text = without_tests(text)
        of_comments, of_errors = (rust_comments, rust_errors) if path.suffix == ".rs" else (python_comments, python_errors)
        comments += [f"{name}:{line}: {words}\n    | {code}" for line, words, code in of_comments(text)]
        errors += [f"{name}:{line}: {words}\n    | {code}" for line, words, code in of_errors(text)]
    return comments, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comments", type=int, default=300)
    parser.add_argument("--errors", type=int, default=100)
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    comments, errors = collect([folder.resolve() for folder in arguments.folders] or [ROOT / "crates", ROOT / "python"])
    draw = random.Random(arguments.seed)
    for title, entries, count in (("comments", comments, arguments.comments), ("error texts", errors, arguments.errors)):
        print(f"== {min(count, len(entries))} of {len(entries)} {title}")
        for n, entry in enumerate(draw.sample(entries, min(count, len(entries))), 1):
            print(f"{n}. {entry}")


if __name__ == "__main__":
    main()
