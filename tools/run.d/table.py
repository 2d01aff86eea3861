"""How far the providers are: a table that is redrawn on a terminal, and lines of what changed elsewhere."""

import shutil

from progress import clock

GROUP = "/apis/operator.cluster.x-k8s.io/v1alpha2"


class Row:
    """What one provider says of itself."""

    def __init__(self, provider, item):
        self.provider = provider
        self.name = f"{provider.kind}/{provider.name}"
        status = (item or {}).get("status", {})
        self.installed = status.get("installedVersion") or "-"
        self.conditions = status.get("conditions", [])
        self.ready, self.what = judge(item)

    def key(self):
        """What makes another line worth while where lines are appended: a new reason, but not every new message."""
        return (self.installed, self.ready, self.what.split(": ")[0])


def judge(item):
    """Whether a provider is Ready, and what it is busy with or waits for."""
    if item is None:
        return False, "not there"
    generation = item["metadata"].get("generation", 0)
    conditions = {entry["type"]: entry for entry in item.get("status", {}).get("conditions", [])}
    ready = conditions.get("Ready")
    if ready is None:
        return False, "waiting for the operator"
    if ready["status"] == "True":
        if ready.get("observedGeneration", generation) < generation:
            return False, "waiting for the operator to see the change"
        return True, "Ready"
    return False, describe(ready)


def describe(condition):
    reason, message = condition.get("reason", ""), condition.get("message", "").strip()
    return ": ".join(part for part in (reason, message) if part) or f"{condition['type']} is {condition['status']}"


def read(api, providers):
    """A row for every provider, in the sample's order."""
    rows = []
    for provider in providers:
        path = f"{GROUP}/namespaces/{provider.namespace}/{provider.plural}/{provider.name}"
        rows.append(Row(provider, api.get(path)))
    return rows


def blockers(rows):
    """What keeps the providers that aren't Ready, condition by condition, as lines."""
    lines = []
    for row in rows:
        if row.ready:
            continue
        lines.append(f"{row.name} in {row.provider.namespace} is not Ready: {row.what}")
        for condition in row.conditions:
            if condition["type"] != "Ready" and condition["status"] != "True":
                lines.append(f"  {condition['type']}={condition['status']} {describe(condition)}")
    return lines


class Table:
    """Shows the rows again and again."""

    def __init__(self, stream, live=None):
        self.stream = stream
        self.live = stream.isatty() if live is None else live
        self.drawn = 0
        self.seen = {}

    def show(self, rows, elapsed):
        if self.live:
            self._redraw(rows, elapsed)
        else:
            self._append(rows, elapsed)
        self.stream.flush()

    def _append(self, rows, elapsed):
        for row in rows:
            if self.seen.get(row.name) != row.key():
                self.seen[row.name] = row.key()
                version = "" if row.installed == "-" else f" {row.installed}"
                self.stream.write(f"  {clock(elapsed):>6}  {row.name}{version}: {one_line(row.what, 200)}\n")

    def _redraw(self, rows, elapsed):
        width = shutil.get_terminal_size((100, 24)).columns
        lines = render(rows, elapsed, width)
        if self.drawn:
            self.stream.write(f"\033[{self.drawn}A")
        self.stream.write("".join(f"\033[2K{line}\n" for line in lines))
        self.drawn = len(lines)


def render(rows, elapsed, width):
    """The table's lines, none wider than the terminal (a wrapped line couldn't be drawn over)."""
    cells = [("PROVIDER", "NAMESPACE", "INSTALLED", "STATE")]
    cells += [(row.name, row.provider.namespace, row.installed, row.what) for row in rows]
    widths = [max(len(cell[column]) for cell in cells) for column in range(3)]
    lines = []
    for cell in cells:
        head = "  ".join(cell[column].ljust(widths[column]) for column in range(3))
        lines.append(one_line(f"  {head}  {cell[3]}", width - 1))
    ready = sum(row.ready for row in rows)
    lines.append(one_line(f"  {ready} of {len(rows)} Ready after {clock(elapsed)}", width - 1))
    return lines


def one_line(text, width):
    text = " ".join(text.splitlines())
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
