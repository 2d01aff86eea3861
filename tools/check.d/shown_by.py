"""Which test names a reason of api/reasons.h: the one that docs/reasons.md sends a reader to.

An end-to-end test goes before a unit test of the operator, a place in a test before one in a helper, and only then a scenario
before other end-to-end tests. The names are kept in api/schema/reasons_shown_by.inc, so that neither the build nor the page reads
the tests.
"""

import re

import sources

FILE = "api/schema/reasons_shown_by.inc"
HEAD = "// Written by `tools/check_rules --write`: the test that names a reason.\n"
# A condition type has the same name: in a text it says nothing of the reason.
TYPES = {"ProviderInstalled", "ProviderUpgraded", "UpgradeAvailable", "StorageMigrated", "Paused"}
# Others use these words, too: Kubernetes, Argo CD, Cluster API's own conditions, what our programs print. As a text they count in the
# file that means ours alone.
WORDS_OF_OTHERS = {
    "UpToDate": "operator/report/summarize_updates_test.cc",
    "Upgrading": "operator/decide/rollout_test.cc",
    "Progressing": "operator/decide/pause_test.cc",
    "InstallFailed": "operator/act/actor_install_test.cc",
    "InternalError": "operator/report/reporter_test.cc",
    "Deleting": "operator/report/reporter_test.cc",
}
RANKS = (
    (r"e2e/scenarios/\w+_test\.cc", True),
    (r"e2e/.*_test\.cc", True),
    (r"tools/\w+_e2e_test\.py", True),
    (r"(operator|api)/.*_test\.cc", False),
)


def rank(name):
    """(its place among the kinds of tests, whether it is end to end); None for what is none of them."""
    for number, (pattern, is_whole) in enumerate(RANKS):
        if re.fullmatch(pattern, name):
            return number, is_whole
    return None


def test_around(name, text, position):
    """The test that has this place in it; "" where a helper has."""
    before = text[:position]
    if name.endswith(".py"):
        found = re.findall(r"^class (\w+)|^    def (\w+)", before, re.MULTILINE)
        functions = [function for _, function in found if function]
        classes = [one for one, _ in found if one]
        is_test = functions and functions[-1].startswith("test_") and found[-1][1]
        return f"{classes[-1]}.{functions[-1]}" if is_test and classes else ""
    found = list(re.finditer(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", before, re.MULTILINE))
    if not found or re.search(r"^}", before[found[-1].end() :], re.MULTILINE):
        return ""
    return f"{found[-1].group(1)}.{found[-1].group(2)}"


def without_comments(name, text):
    mark = "#" if name.endswith(".py") else "//"
    return re.sub(rf"(^|\s){mark}[^\n]*", r"\1", text)


def places(constant, reason, texts):
    """(file, position) of each place that names it."""
    for name, text in texts.items():
        word = rf"\breason::{constant}\b"
        if reason not in TYPES and WORDS_OF_OTHERS.get(reason, name) == name:
            word += rf"|(?<![\w.]){reason}(?![\w(])"
        for match in re.finditer(word, text):
            yield name, match.start()


def without_a_test(constants, text):
    """The reasons that FILE's text has no row of; not those of which a text can't tell."""
    return [reason for constant, reason in constants.items() if reason not in TYPES and f"{{reason::{constant}, " not in text]


def rows(constants):
    """The text of FILE for these reasons: {"kInUse": "InUse", ...}."""
    texts = {name: without_comments(name, sources.text(name)) for name in sources.all_files() if rank(name) and name != "api/reasons_test.cc"}
    out = ""
    for constant, reason in constants.items():
        found = []
        for name, position in places(constant, reason, texts):
            number, is_whole = rank(name)
            test = test_around(name, texts[name], position)
            found.append((not is_whole, not test, number, name, test))
        if found:
            unit, _, _, name, test = min(found)
            words = f"`{name}`" + (f", `{test}`" if test else "") + (" (a unit test)" if unit else "")
            out += f'    {{reason::{constant}, "{words}"}},\n'
    return HEAD + out if out else ""
