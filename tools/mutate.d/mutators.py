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


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change: the text from `begin` to `end` becomes `text`."""

    file: str
    kind: str  # of KINDS
    name: str  # what it does, as the list of equivalent ones calls it: "== to !=", "drop f();"
    line: int
    code: str  # the line, as it is
    begin: int
    end: int
    text: str

    def apply(self, source):
        return source[: self.begin] + self.text + source[self.end :]


def mask(source):
    """The text with nothing but code: every character of comments, texts and #lines is gone, and all others keep their place."""

    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return '"' + re.sub(r"[^\n]", "x", found[1:-1]) + '"'

    masked = sources.NOISE.sub(blank, source)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), masked, flags=re.MULTILINE)


# ---- each yields (begin, end, name, new text) ----


def switched_off_rules(source, masked):
    """A rule of a table, or a check of its own, that never holds."""
    in_tables = set()
    for row in _ROW.finditer(source):
        rule = row.group(1)
        in_tables.add(rule)
        never = f"[](const Observation& o) {{ auto none = {rule}(o); none.reset(); return none; }}"
        yield row.start(1), row.end(1), f"off {rule}", never
    for head in _RULE.finditer(masked):
        if head.group(1) not in in_tables:
            yield head.end(), head.end(), f"off {head.group(1)}", " return std::nullopt;"


def negated_comparisons(source, masked):
    for found in _COMPARISON.finditer(masked):
        opposite = _OPPOSITE[found.group(1)]
        yield found.start(), found.end(), f"{found.group(1)} to {opposite}", opposite


def changed_logic(source, masked):
    for found in _AND_OR.finditer(masked):
        opposite = _OPPOSITE[found.group(1)]
        yield found.start(), found.end(), f"{found.group(1)} to {opposite}", opposite
    for found in _NOT.finditer(masked):
        yield found.start(), found.end(), "drop !", ""


def dropped_statements(source, masked):
    for begin, end, depth in statements(masked):
        text = masked[begin:end]
        if re.match(r"(case|default)\b", text):
            continue
        if depth == 1 and re.match(r"return\b", text):
            continue  # nothing would be returned: no test has a say in what happens then
        if _DECLARATION.match(text) and not _STATEMENT_WORD.match(text):
            continue
        yield begin, end, "drop " + " ".join(source[begin:end].split()), ";"


def flipped_repeats(source, masked):
    for found in _REPEATABLE.finditer(masked):
        text = source[found.start() : found.end()]
        yield found.start(), found.end(), f"not {text}", f"!({text})"


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
        for begin, end, name, text in KINDS[kind](source, masked):
            if functions and function_at(masked, begin + 1) not in functions:
                continue
            line = source.count("\n", 0, begin) + 1
            code = source.split("\n")[line - 1].strip()
            found.append(Mutant(file, kind, name, line, code, begin, end, text))
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
