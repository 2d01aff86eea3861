"""Downloads: whether a site can be reached at all, and files with a checksum and a progress line."""

import hashlib
import threading
import urllib.error
import urllib.request

from progress import AssetError, Progress

CHUNK = 1 << 18


def reachable(url, within=2.0):
    """Whether url answers within so many seconds, name lookup included. Proxies in the environment are used."""
    answer = []

    def ask():
        try:
            request = urllib.request.Request(url, method="HEAD")
            with urllib.request.urlopen(request, timeout=within):
                answer.append(True)
        except (OSError, ValueError):
            pass

    # A name lookup can't be given a deadline, so the thread that is stuck in one is left behind.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(within)
    return bool(answer)


def fetch_text(url, limit=1 << 20):
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            return response.read(limit).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise AssetError(f"cannot download {url}: {error}") from error


def download(title, url, path, algorithm=None, expected=None):
    """Downloads url to path; with an algorithm, the file's checksum must be the expected one."""
    digest = hashlib.new(algorithm) if algorithm else None
    progress = Progress(title)
    try:
        with urllib.request.urlopen(url, timeout=30) as response, open(path, "wb") as file:
            total = int(response.headers.get("Content-Length") or 0)
            size = 0
            while chunk := response.read(CHUNK):
                file.write(chunk)
                size += len(chunk)
                if digest:
                    digest.update(chunk)
                progress.update(_amount(size, total))
    except (OSError, ValueError) as error:
        progress.failed()
        raise AssetError(f"cannot download {url}: {error}") from error
    if digest and digest.hexdigest() != expected:
        progress.failed()
        raise AssetError(f"{url}: {algorithm} is {digest.hexdigest()}, expected {expected}")
    progress.done(_amount(size, 0))


def _amount(size, total):
    mebibyte = 1 << 20
    return f"{size / mebibyte:.0f} of {total / mebibyte:.0f} MiB" if total else f"{size / mebibyte:.1f} MiB"
