"""check.py SITE: looks for broken links and for foreign hosts in a built site.

Every file and heading that a page links to must exist. Whatever a browser loads by itself (scripts, styles, images,
fonts) must come from the site. Links that a reader may follow can lead anywhere.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
FOREIGN = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(values[name] for name in ("id", "name") if values.get(name))
        for name in ("href", "src", "data"):
            if values.get(name):
                self.links.append(values[name])
                is_own = tag == "link" and values.get("rel") == "canonical"
                if (tag, name) in LOADED and not is_own:
                    self.loaded.append(values[name])


def mistakes(site):
    """Yields one line per mistake."""
    pages = {file: Page(file.read_text()) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        where = file.relative_to(site)
        if where.name == "404.html":  # its links begin at the root of the host
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            target = (file.parent / path).resolve() if path else file
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{where}: {link}: missing file"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                yield f"{where}: {link}: unknown heading"
        for link in page.loaded:
            if urllib.parse.urlsplit(link).netloc:
                yield f"{where}: loads {link} from another host"
    for file in sorted(site.rglob("*.css")):
        for link in FOREIGN.findall(file.read_text()):
            yield f"{file.relative_to(site)}: loads {link} from another host"


def main(site):
    found = list(mistakes(pathlib.Path(site).resolve()))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
