"""Checks the links inside the documentation, without a network.

    check_links.py [FOLDER]    Markdown pages of the repository, and, if given, a built book

Of Markdown pages every relative link must lead to a file, and its anchor to a heading of that file. Of a built book every `href`
and `src` must lead to a file in it, and every anchor to an element. Links with a scheme (https:) are left alone.
"""

import html.parser
import re
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Pages that people read in the repository; those below book/src are checked as the built book.
PAGES = ("*.md", "docs/*.md", "crates/*/*.md", "python/*.md")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+)\)")


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> anchor_of("### 6.6 `Checksums`, and more")
    '66-checksums-and-more'
    """
    text = heading.lstrip("#").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text: str) -> str:
    """A page without its code.

    >>> without_code("a `b` c")
    'a  c'
    """
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links_of(text: str) -> list[str]:
    """The targets of the links of a page.

    >>> links_of("[a](b.md#c) ![d [e]](f.svg) `[no](link)`")
    ['b.md#c', 'f.svg']
    """
    return LINK.findall(without_code(text))


def is_elsewhere(target: str) -> bool:
    return bool(urllib.parse.urlsplit(target).scheme) or target.startswith("//")


def check_page(page: Path) -> list[str]:
    wrong = []
    for target in links_of(page.read_text()):
        if is_elsewhere(target):
            continue
        path, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            wrong.append(f"{page.relative_to(ROOT)}: {target}: no such file")
        elif anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ .*$", file.read_text(), re.MULTILINE)
            if anchor not in {anchor_of(heading) for heading in headings}:
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    return wrong


class Elements(html.parser.HTMLParser):
    """The links and the anchors of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "base":
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def check_book(book: Path) -> list[str]:
    pages = {page: Elements(page.read_text()) for page in sorted(book.rglob("*.html"))}
    wrong = []
    for page, elements in pages.items():
        if page.name in ("404.html", "toc.html"):
            # Their links are relative to the page that shows them.
            continue
        for target in elements.links:
            if is_elsewhere(target):
                continue
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            path = path.partition("?")[0]
            file = (page.parent / path).resolve() if path else page
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                wrong.append(f"{page.relative_to(book)}: {target}: no such file")
            elif file in pages and anchor not in pages[file].anchors:
                wrong.append(f"{page.relative_to(book)}: {target}: no such anchor")
    return sorted(set(wrong))


def main(books: list[str]) -> int:
    pages = sorted(page for pattern in PAGES for page in ROOT.glob(pattern))
    wrong = [line for page in pages for line in check_page(page)]
    for book in books:
        found = check_book(Path(book).resolve())
        count = len(list(Path(book).rglob("*.html")))
        print(f"{count} pages of {book}: {len(found)} broken links")
        wrong += found if count else [f"{book}: no pages"]
    print(f"{len(pages)} Markdown pages, {len(wrong)} broken links in all")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
