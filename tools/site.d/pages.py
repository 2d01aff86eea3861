"""What becomes of a page of docs/ on the site, and what a page of the site may not have. Pure."""

import html.parser
import re

FENCE = re.compile(r"^( *)(```+)[^\n]*\n.*?^\1\2 *$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s]+)\)")
ITEM = re.compile(r"^ *([-*]|\d+\.) ")
# Of these elements a browser loads what they name.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data"}


def prepare(text):
    """The page as the generator reads it. It knows fewer ways to write a list than GitHub, has no drawings of Mermaid, and no files
    beside docs/, so a link to one becomes that one's path."""
    out, end = [], 0
    for fence in FENCE.finditer(text):
        out.append(_words(text[end : fence.start()]))
        out.append(fence.group(0).replace("```mermaid\n", "```text\n", 1))
        end = fence.end()
    return "".join(out) + _words(text[end:])


def _words(text):
    text = OUTSIDE.sub(lambda link: f"{link.group(1)} (`{link.group(2)}` in the repository)", text)
    lines, before = [], ""
    for line in text.split("\n"):
        # A list begins a paragraph of its own, and what is below an item is four columns in.
        if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" "):
            lines.append("")
        before = line
        lines.append(re.sub(r"^( +)(?=[-*] |\d+\. )", lambda spaces: spaces.group(1) * 2, line))
    return "\n".join(lines)


class _Loads(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        address = named.get(LOADED.get(tag, "")) or ""
        if tag == "link" and named.get("rel") == "canonical":
            return
        if re.match(r"(https?:)?//", address):
            self.found.append(address)


def loaded_from_elsewhere(page):
    """The addresses on other hosts that a browser asks when it shows this page. A link that a person follows is none."""
    parser = _Loads()
    parser.feed(page)
    return parser.found
