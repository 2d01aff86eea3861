"""The list of changes that no test can tell from what is there, each with why (equivalent.txt)."""

import os
import re

LIST = os.path.join(os.path.dirname(os.path.realpath(__file__)), "equivalent.txt")


class BadList(Exception):
    pass


def parse(text):
    """(file, line of code, name of the change) -> why. An entry is

    FILE: NAME OF THE CHANGE
      LINE OF CODE
      # Why, in one line or more.
    """
    entries, key, why = {}, None, []
    lines = text.split("\n") + [""]
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if key is not None:
                entries[_whole(key, why, number)] = " ".join(why)
            key, why = None, []
        elif key is None:
            head = re.fullmatch(r"(\S+): (.+)", line)
            if not head:
                raise BadList(f"equivalent.txt:{number}: an entry begins with FILE: NAME OF THE CHANGE")
            key = [head.group(1), None, head.group(2)]
        elif line.strip().startswith("# "):
            why.append(line.strip()[2:])
        elif key[1] is None:
            key[1] = line.strip()
        else:
            raise BadList(f"equivalent.txt:{number}: one line of code for each entry")
    return entries


def _whole(key, why, number):
    if key[1] is None or not why:
        raise BadList(f"equivalent.txt:{number}: an entry has a line of code, and says why")
    return tuple(key)


def key_of(mutant):
    return (mutant.file, mutant.code, mutant.name)


def split(mutants, entries):
    """(those to try, those that are listed, entries that fit nothing)"""
    listed = [mutant for mutant in mutants if key_of(mutant) in entries]
    stale = set(entries) - {key_of(mutant) for mutant in listed}
    return [mutant for mutant in mutants if key_of(mutant) not in entries], listed, sorted(stale)
