"""Pictures of a page: small ones, and how much two differ. The browser reads them."""

import base64
import json
import struct
import zlib

SQUARE = 16  # pixels
SHADE = 10  # of 255: how much the mean of a square may differ
COLOURS = 64  # a page has few, and letters have edges
READ = """
  const read = async (data) => {
    const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
    const {width, height} = picture;
    const canvas = new OffscreenCanvas(width, height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return {width, height, pixels: canvas.getImageData(0, 0, width, height).data};
  };
"""
SHARE = """
  const squares = ({width, height, pixels}) => {
    const across = Math.ceil(width / SQUARE);
    const sums = Array.from({length: across * Math.ceil(height / SQUARE)}, () => [0, 0, 0, 0]);
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
      const sum = sums[Math.floor(y / SQUARE) * across + Math.floor(x / SQUARE)], at = 4 * (y * width + x);
      for (let colour = 0; colour < 3; colour++) sum[colour] += pixels[at + colour];
      sum[3]++;
    }
    return sums.map((sum) => sum.slice(0, 3).map((one) => one / sum[3]));
  };
  const one = await read(ONE), other = await read(OTHER);
  if (one.width !== other.width || one.height !== other.height) return 1;
  const was = squares(one), is = squares(other);
  return was.filter((mean, i) => mean.some((colour, j) => Math.abs(colour - is[i][j]) > SHADE)).length / was.length;
"""
# The most frequent colours, and each row as characters: 0 is the first of them.
FEW = """
  const {width, height, pixels} = await read(ONE);
  const colours = Array.from({length: width * height}, (_, i) => pixels[4 * i] << 16 | pixels[4 * i + 1] << 8 | pixels[4 * i + 2]);
  const counts = new Map();
  for (const one of colours) counts.set(one, (counts.get(one) ?? 0) + 1);
  const kept = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, COLOURS).map(([one]) => one);
  const far = (a, b) => [16, 8, 0].reduce((sum, by) => sum + ((a >> by & 255) - (b >> by & 255)) ** 2, 0);
  const letters = new Map([...counts.keys()].map((one) => {
    const nearest = kept.reduce((best, other, i) => far(one, other) < far(one, kept[best]) ? i : best, 0);
    return [one, String.fromCharCode(48 + nearest)];
  }));
  const rows = Array.from({length: height}, (_, y) => colours.slice(y * width, (y + 1) * width).map((one) => letters.get(one)).join(""));
  return {width, height, kept, rows};
"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, palette, rows):
    """`palette` has 0xRRGGBB; `rows` have a byte for each pixel."""
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = b"".join(struct.pack(">I", one)[1:] for one in palette)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", colours) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


class Eye:
    """Thread-compatible, as its browser is."""

    def __init__(self, browser):
        self.page = browser.open("about:blank")

    def close(self):
        self.page.close()

    def see(self, program, **pictures):
        given = {name: base64.b64encode(data).decode() for name, data in pictures.items()}
        given.update(SQUARE=SQUARE, SHADE=SHADE, COLOURS=COLOURS)
        return self.page.evaluate(f"(async ({{{', '.join(given)}}}) => {{{READ}{program}}})({json.dumps(given)})")

    def difference(self, one, other):
        """Of two PNGs, loosely, since another version of the browser draws letters a little differently: the share of their squares
        whose mean colours differ. 1 where their sizes do."""
        return self.see(SHARE, ONE=one, OTHER=other)

    def small(self, picture):
        """A PNG that looks the same, and has few colours."""
        found = self.see(FEW, ONE=picture)
        numbers = bytes(max(0, one - 48) for one in range(256))
        return png(found["width"], found["height"], found["kept"], [row.encode().translate(numbers) for row in found["rows"]])
