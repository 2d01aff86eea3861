"""Watches of the API server, each event with the time at which it arrived."""

import contextlib
import http.client
import json
import queue
import socket
import ssl
import threading
import time
import urllib.parse

from progress import AssetError


class Watch:
    """A watch that is open when the constructor returns: of what there is, and then of what happens to it. Events come as
    (seconds, type, object). Use it in a `with`."""

    def __init__(self, api, path, **selectors):
        query = {"watch": "1", **selectors}
        self.connection = http.client.HTTPSConnection("127.0.0.1", api.port, context=api.tls)
        headers = {"Authorization": f"Bearer {api.token}"}
        self.connection.request("GET", f"{path}?{urllib.parse.urlencode(query)}", headers=headers)
        # Closing an answer that is still being read would wait for its end: the socket is shut down instead.
        self.socket = self.connection.sock
        answer = self.connection.getresponse()
        if answer.status != 200:
            raise AssetError(f"watching {path}: {answer.read().decode()}")
        self.lines = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, args=(answer,), daemon=True)
        self.reader.start()

    def _read(self, answer):
        try:
            for line in answer:
                self.lines.put((time.monotonic(), line))
        except (OSError, ValueError, AttributeError, http.client.HTTPException, ssl.SSLError):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.reader.join()
        self.connection.close()

    def next(self, timeout):
        """The next event; None when there is none in time."""
        try:
            at, line = self.lines.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return None
        event = json.loads(line)
        return at, event["type"], event["object"]

    def all(self):
        """What has arrived and wasn't taken."""
        events = []
        while (event := self.next(0)) is not None:
            events.append(event)
        return events
