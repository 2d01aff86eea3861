"""Whether a picture in Mermaid's language can be drawn: the part of the language that our pages use, and strict in that.

Flowcharts of boxes with texts and arrows, and sequence diagrams of messages. Texts have no characters that mean something to the
real parser, which reads more than this does.
"""

import re

# Words of the language, which the real parser takes for no name of a box or a participant.
_WORDS = (
    "actor activate alt and as autonumber box break call class classDef click create critical deactivate default destroy details "
    "direction else end flowchart graph href interpolate link links linkStyle loop note opt option over par participant properties "
    "rect style subgraph title"
)
_NAME = rf"(?!(?:{_WORDS.replace(' ', '|')})\b)[a-z]\w*"
_TEXT = r"[\w ,.:?'/-]+"
_BOX = rf"(?P<NAMENN>{_NAME})(?:\[(?P<SQUARENN>{_TEXT})\]|\(\[(?P<ROUNDNN>{_TEXT})\]\)|\{{(?P<FORKNN>{_TEXT})\}})?"
_ARROW = re.compile(rf"  {_BOX.replace('NN', '1')} -->(?:\|{_TEXT}\|)? {_BOX.replace('NN', '2')}")
_MESSAGE = re.compile(rf"  ({_NAME})--?>>({_NAME}): {_TEXT}")
_PARTICIPANT = re.compile(rf"  (?:participant|actor) ({_NAME})")


def problem(block):
    """What is wrong; "" for nothing."""
    first, *lines = block.rstrip("\n").split("\n")
    if re.fullmatch(r"flowchart (?:LR|TD)", first):
        return _flowchart(lines)
    if first == "sequenceDiagram":
        return _sequence(lines)
    return "it begins with none of flowchart, sequenceDiagram"


def _flowchart(lines):
    texts = {}
    for number, line in enumerate(lines, 2):
        arrow = _ARROW.fullmatch(line)
        if not arrow:
            return f"line {number}: {line}"
        for end in ("1", "2"):
            name = arrow["NAME" + end]
            text = arrow["SQUARE" + end] or arrow["ROUND" + end] or arrow["FORK" + end]
            if text and texts.get(name):
                return f"line {number}: {name} has two texts"
            texts[name] = texts.get(name) or text
    if not texts:
        return "nothing is drawn"
    return "".join(f"{name} has no text" for name, text in texts.items() if not text)


def _sequence(lines):
    participants, messages = set(), 0
    for number, line in enumerate(lines, 2):
        if participant := _PARTICIPANT.fullmatch(line):
            participants.add(participant[1])
            continue
        message = _MESSAGE.fullmatch(line)
        if not message:
            return f"line {number}: {line}"
        for name in message.groups():
            if name not in participants:
                return f"line {number}: {name} is no participant"
        messages += 1
    return "" if messages else "nothing is drawn"
