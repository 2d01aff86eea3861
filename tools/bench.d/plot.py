"""A small plot as SVG: both axes logarithmic."""

from math import ceil, floor, log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 70
STYLE = "font-family: sans-serif; font-size: 13px"


def _powers(values):
    """Between which powers of ten they are; two different ones, also where all values are the same power."""
    low = floor(log10(min(values)))
    return low, max(ceil(log10(max(values))), low + 1)


class Plot:
    """One series of points, and the line of a function."""

    def __init__(self, title, x_unit, y_unit, note):
        self.title, self.x_unit, self.y_unit, self.note = title, x_unit, y_unit, note
        self.points, self.label = [], ""
        self.function, self.line_label = None, ""

    def add(self, label, points):
        self.label, self.points = label, points

    def add_line(self, label, function):
        self.line_label, self.function = label, function

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text())

    def _text(self):
        xs, ys = zip(*self.points)
        self.x_low, self.x_high = _powers(xs)
        self.y_low, self.y_high = _powers(ys)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" style="{STYLE}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            self._words(WIDTH / 2, 24, self.title, "middle"),
            self._words(WIDTH / 2, HEIGHT - 10, self.note, "middle"),
            *self._axes(),
            *self._line(),
            *self._series(),
            "</svg>\n",
        ]
        return "\n".join(parts)

    def _x(self, value):
        return LEFT + (log10(value) - self.x_low) / (self.x_high - self.x_low) * (WIDTH - LEFT - RIGHT)

    def _y(self, value):
        return HEIGHT - BOTTOM - (log10(value) - self.y_low) / (self.y_high - self.y_low) * (HEIGHT - TOP - BOTTOM)

    @staticmethod
    def _words(x, y, text, anchor):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'

    @staticmethod
    def _stroke(points, color, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-dasharray="{dash}"/>'

    def _axes(self):
        parts = []
        bottom, top = self._y(10**self.y_low), self._y(10**self.y_high)
        for power in range(self.x_low, self.x_high + 1):
            x = self._x(10**power)
            parts.append(self._stroke([(x, bottom), (x, top)], "#ddd"))
            parts.append(self._words(x, bottom + 18, f"{10**power:g} {self.x_unit}", "middle"))
        for power in range(self.y_low, self.y_high + 1):
            y = self._y(10**power)
            parts.append(self._stroke([(LEFT, y), (WIDTH - RIGHT, y)], "#ddd"))
            parts.append(self._words(LEFT - 6, y + 4, f"{10**power:g} {self.y_unit}", "end"))
        return parts

    def _line(self):
        low, high = log10(min(self.points)[0]), log10(max(self.points)[0])
        xs = [10 ** (low + (high - low) * step / 50) for step in range(51)]
        line = [(self._x(x), self._y(self.function(x))) for x in xs]
        return [self._stroke(line, "#c33", "5 4"), *self._legend(1, "#c33", self.line_label)]

    def _series(self):
        dots = [(self._x(x), self._y(y)) for x, y in self.points]
        circles = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#136"/>' for x, y in dots]
        return [self._stroke(dots, "#136"), *circles, *self._legend(0, "#136", self.label)]

    def _legend(self, row, color, text):
        y = TOP + 20 + row * 20
        dash = "5 4" if row else ""
        return [self._stroke([(LEFT + 20, y), (LEFT + 50, y)], color, dash), self._words(LEFT + 58, y + 4, text, "start")]
