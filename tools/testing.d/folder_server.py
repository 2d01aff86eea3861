"""A folder that Python's own web server has, over TLS on loopback."""

import functools
import http.server
import os
import ssl
import subprocess
import threading

MAKE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=files -addext subjectAltName=IP:127.0.0.1".split()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # Once for each request, also for one that is answered with an error, or that has no headers that could be read.
    def log_request(self, *_):
        with self.server.lock:
            self.server.asked.append((self.path, str(getattr(self, "headers", ""))))


class FolderServer:
    """Its certificate lies in `place`. It serves from the beginning, and ends with a `with` or close()."""

    def __init__(self, folder, place):
        self.folder = folder
        self.certificate = os.path.join(place, "server.pem")  # of a CA of one's own
        key = f"{self.certificate}.key"
        subprocess.run([*MAKE, "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self.certificate, key)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.server.asked, self.server.lock = [], threading.Lock()
        # A handshake is that connection's thread's, so that one waits for no other.
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def asked(self):
        """(path, headers) of each request so far."""
        with self.server.lock:
            return list(self.server.asked)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
