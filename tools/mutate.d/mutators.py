"""Small changes of C++ sources, each of which a test should notice. Text in, text out; layout as clang-format makes it."""

import dataclasses
import re

import sources

# A row of a table of rules: its name, what it is for, and the function that it calls.
_ROW = re.compile(r'\{"[A-Z]\d+[a-z]?\.[\w-]+",(?: \w+,)? (\w+)\}')
_RULE = re.compile(r"^(?:std::optional<Hold>|Next) (\w+)\([^;{}]*\)(?: const)? \{", re.MULTILINE)
# clang-format has blanks around operators, and none around brackets of templates or before the && of a reference.
_COMPARISON = re.compile(r"(?<= )(==|!=|<=|>=|<|>)(?=[ \n])")
_AND_OR = re.compile(r"(?<= )(&&|\|\|)(?=[ \n])")
_NOT = re.compile(r"(?<![\w)\]])!(?!=)")
_REPEATABLE = re.compile(r"(?<=\.repeatable = )[^,}]+")
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&"}
_DECLARATION = re.compile(r"(const |constexpr |static |using |auto\b|[\w:]+(<.*>)?[&*]* [&*]*\w+\s*([=({;\[]|$))", re.DOTALL)
_STATEMENT_WORD = re.compile(r"(return|delete|throw|goto|co_\w+|if|for|while|else)\b")


# In a changed file, true for the number of the change that is being tried.
SWITCH = "capi_mutant"
PRELUDE = f"""#include <cstdlib>
namespace {{
[[maybe_unused]] bool {SWITCH}(int number) {{
  static const int on = std::getenv("CAPI_MUTANT") ? std::atoi(std::getenv("CAPI_MUTANT")) : 0;
  return number == on;
}}
}}
"""


@dataclasses.dataclass(frozen=True)
class Wrap:
    """What comes before and after a stretch of the text; an ON in it is true while the change is on."""

    begin: int
    end: int
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change that can be switched on while the program runs, so that a file is compiled once for all of its changes."""

    file: str
    kind: str  # of KINDS
    name: str  # what it does, as the list of equivalent ones calls it: "== to !=", "drop f();"
    line: int
    code: str  # the line, as it is
    begin: int
    wraps: tuple


def switched(source, mutants):
    """The text with every one of the changes in it, switched off; the first is number 1."""
    openers, closers = {}, {}
    order = 0
    for number, mutant in enumerate(mutants, 1):
        for wrap in mutant.wraps:
            order += 1
            before, after = (text.replace("ON", f"{SWITCH}({number})") for text in (wrap.before, wrap.after))
            # What is longer lies outside; of two that are as long, what came first.
            openers.setdefault(wrap.begin, []).append((-wrap.end, order, before))
            closers.setdefault(wrap.end, []).append((-wrap.begin, -order, after))
    out, last = [PRELUDE], 0
    for place in sorted(set(openers) | set(closers)):
        out.append(source[last:place])
        out += [text for *_, text in sorted(closers.get(place, []))] + [text for *_, text in sorted(openers.get(place, []))]
        last = place
    return "".join([*out, source[last:]])


def mask(source):
    """The text with nothing but code: every character of comments, texts and #lines is gone, and all others keep their place."""

    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return '"' + re.sub(r"[^\n]", "x", found[1:-1]) + '"'

    masked = sources.NOISE.sub(blank, source)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), masked, flags=re.MULTILINE)


# ---- how far an operand goes ----

_OPEN, _CLOSE = "([{", ")]}"
# Where an operand of a comparison, of && and of || ends; each begins after one of the same, or after these.
_ENDS = {"&&": (" || ",), "||": ()}
_LOOSER = (" ? ", " : ", " = ", " += ")
_BEFORE = re.compile(r"(\breturn|\bco_return|\bthrow|\bcase) $")


def _forward(masked, position, stops):
    """Where the first of `stops`, or the bracket around it all, ends what begins here."""
    depth = 0
    while position < len(masked):
        char = masked[position]
        if depth == 0 and (char in ",;" or char in _CLOSE or any(_stands(masked, position, stop) for stop in stops)):
            return position
        depth += (char in _OPEN) - (char in _CLOSE)
        position += 1
    return position


def _stands(masked, position, stop):
    """An operator may end its line."""
    return masked.startswith(stop, position) or masked.startswith(stop[:-1] + "\n", position)


def _backward(masked, position, stops):
    depth = 0
    while position > 0:
        char = masked[position - 1]
        if depth == 0:
            if char in ",;" or char in _OPEN or any(re.search(rf"{re.escape(stop[:-1])}\s+$", masked[:position][-40:]) for stop in stops):
                break
            if _BEFORE.search(masked[max(0, position - 12) : position]):
                break
        depth += (char in _CLOSE) - (char in _OPEN)
        position -= 1
    return position + len(masked[position:]) - len(masked[position:].lstrip())


# ---- each yields (name, wraps), at the place of the first ----


def switched_off_rules(source, masked):
    """A rule of a table, or a check of its own, that never holds."""
    in_tables = set()
    for row in _ROW.finditer(source):
        in_tables.add(row.group(1))
        before, after = "[](const Observation& o) { auto found = ", "(o); if (ON) found.reset(); return found; }"
        yield f"off {row.group(1)}", [Wrap(*row.span(1), before, after)]
    for head in _RULE.finditer(masked):
        if head.group(1) not in in_tables:
            yield f"off {head.group(1)}", [Wrap(head.end(), head.end(), " if (ON) return std::nullopt;", "")]


def negated_comparisons(source, masked):
    for found in _COMPARISON.finditer(masked):
        end = _forward(masked, found.end(), (" && ", " || ", *_LOOSER))
        yield f"{found.group(1)} to {_OPPOSITE[found.group(1)]}", [Wrap(found.start(), end, "", " != ON")]


def changed_logic(source, masked):
    # Not(a) and Not(b), negated, is a or b; and the other way.
    for found in _AND_OR.finditer(masked):
        operator = found.group(1)
        begin = _backward(masked, found.start(), (*_ENDS[operator], *_LOOSER))
        right = found.end() + len(masked[found.end() :]) - len(masked[found.end() :].lstrip())
        end = _forward(masked, found.end(), (*_ENDS[operator], f" {operator} ", *_LOOSER))
        sides = [(begin, found.start() - 1), (right, end)]
        wraps = [Wrap(begin, end, "((", ") != ON)")] + [Wrap(*side, "(!!(", ") != ON)") for side in sides]
        yield f"{operator} to {_OPPOSITE[operator]}", wraps
    for found in _NOT.finditer(masked):
        end = _forward(masked, found.end(), (" ",))
        yield "drop !", [Wrap(found.start(), end, "(ON != ", ")")]


def dropped_statements(source, masked):
    for begin, end, depth in statements(masked):
        text = masked[begin:end]
        if re.match(r"(case|default)\b", text) or re.match(r"\s*else\b", masked[end:]):
            continue
        if re.fullmatch(r"\[\[\w+\]\];", text):
            continue  # an attribute does nothing
        if depth == 1 and re.match(r"return\b", text):
            continue  # nothing would be returned: no test has a say in what happens then
        if _DECLARATION.match(text) and not _STATEMENT_WORD.match(text):
            continue
        begin += re.match(r"(else\s+)?", text).end()
        yield "drop " + " ".join(source[begin:end].split()), [Wrap(begin, end, "if (!ON) { ", " }")]


def flipped_repeats(source, masked):
    for found in _REPEATABLE.finditer(masked):
        yield f"not {source[found.start() : found.end()]}", [Wrap(*found.span(), "(ON != (", "))")]


KINDS = {
    "rule": switched_off_rules,
    "compare": negated_comparisons,
    "logic": changed_logic,
    "drop": dropped_statements,
    "repeat": flipped_repeats,
}


def statements(masked):
    """(begin, end, depth of blocks in the function) of each statement that ends with a semicolon and stands in a function."""
    stack = []  # of "scope", "block", "value": what each open brace is
    begin, parens = 0, 0
    for match in re.finditer(r"[{}();]", masked):
        token, position = match.group(0), match.start()
        if token in "()":
            parens += 1 if token == "(" else -1
            continue
        if token == "{":
            stack.append(_kind_of(masked[begin:position], stack, parens))
        elif token == "}":
            closed = stack.pop() if stack else "scope"
            if closed == "value":
                continue
        elif parens > 0 or (stack and stack[-1] == "value"):
            continue
        elif stack and stack[-1] == "block":
            text = masked[begin:position]
            if text.strip():
                yield begin + len(text) - len(text.lstrip()), position + 1, stack.count("block")
        if not stack or stack[-1] != "value":
            begin = position + 1


def _kind_of(head, stack, parens):
    head = head.strip()
    if parens > 0 or (stack and stack[-1] == "value"):
        return "value"
    inside = bool(stack) and stack[-1] == "block"
    if re.search(r"\b(namespace|class|struct|enum|union)\b[^()=]*$", head):
        return "scope"
    control = not head or re.search(r"(\)|\belse|\bdo|\btry|:)$", head) is not None
    if inside:
        assigned = re.match(r"(return\b|[^()]*=)", head) is not None  # a lambda or a list that is given to something
        return "block" if control and not assigned else "value"
    body = re.search(r"(\)|\bconst|\bnoexcept|\boverride|[A-Z_]{6,})$", head) is not None and "=" not in head.split("(")[0]
    if not body and re.search(r"\)\s*:(?!:)", head):
        body = re.search(r"[)}]$", head) is not None  # after the last member of a constructor
    return "block" if body else "value"


def function_at(masked, position):
    """The name of the function that the position lies in: that of the last line at the left margin (two blanks in a class)."""
    names = re.findall(r"^ {0,2}[A-Za-z][^\n;=]*?(\w+)\([^;]*?\{[ \n]", masked[:position], re.MULTILINE)
    return names[-1] if names else ""


def mutants(file, source, kinds, functions=()):
    """Every mutant of one file, in order. With `functions`, those in these functions alone."""
    masked = mask(source)
    found = []
    for kind in kinds:
        for name, wraps in KINDS[kind](source, masked):
            # A change of && stands where the operator does, which the end of its left side tells.
            begin = wraps[1].end + 1 if len(wraps) > 1 else wraps[0].begin
            if functions and function_at(masked, begin + 1) not in functions:
                continue
            line = source.count("\n", 0, begin) + 1
            code = source.split("\n")[line - 1].strip()
            found.append(Mutant(file, kind, name, line, code, begin, tuple(wraps)))
    return _numbered(sorted(found, key=lambda mutant: (mutant.begin, mutant.kind)))


def _numbered(found):
    """The second of a name on lines of the same text gets a number, so that each can be named."""
    seen, out = {}, []
    for mutant in found:
        key = (mutant.name, mutant.code)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            mutant = dataclasses.replace(mutant, name=f"{mutant.name} #{seen[key]}")
        out.append(mutant)
    return out
