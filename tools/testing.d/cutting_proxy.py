"""A proxy before an API server, which ends the client at a certain request: before the server has it, or after it was carried
out and before the client has the answer. What a kill, or a lost machine, leaves behind is so tried at a known place."""

import http.client
import http.server
import ssl
import threading


class Cut:
    """When the client's process ends: at the `at`-th request of all proxies that share this. None: never."""

    def __init__(self, at=None, after=False):
        self.at = at
        self.after = after
        self.process = None
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        """What it has seen of one client."""
        self.count = 0
        self.reached = False
        self.happened = False

    def begin(self, start):
        """Of the process that `start` makes, which it gives; another one may have been before. No request is counted before it is known."""
        with self.lock:
            self.reset()
            self.process = start()
        return self.process

    def is_now(self, method, path):
        """Counts a request; whether it is the one."""
        with self.lock:
            self.count += 1
            if self.at is None or self.reached or self.count < self.at:
                return False
            self.reached = True
            return True

    def takes_back(self, method, path, status, is_the_one):
        """Whether an answer says that a request that was counted doesn't count. Where it was the one, the next one is."""
        return False

    def end(self):
        self.happened = True
        self.process.kill()


class CuttingProxy:
    """Plain HTTP on a port of loopback, passed on to the API server of a control plane, until it is closed."""

    def __init__(self, plane):
        self.cut = Cut()
        tls = ssl.create_default_context()
        tls.check_hostname = False  # what it reaches is known: our own child
        tls.verify_mode = ssl.CERT_NONE
        self.server = Server(("127.0.0.1", 0), handler(self, plane.port, tls))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Of a client that is gone, as it is to be."""


def handler(proxy, port, tls):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        upstream = None

        def pass_on(self):
            cut = proxy.cut
            ends_here = cut.is_now(self.command, self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if ends_here and not cut.after:
                return self.hang_up(cut)
            if self.upstream is None:
                self.upstream = http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=30)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "accept-encoding")}
            self.upstream.request(self.command, self.path, body, headers)
            answer = self.upstream.getresponse()
            if "watch=" in self.path:
                return self.pass_events(answer)
            content = answer.read()
            if not cut.takes_back(self.command, self.path, answer.status, ends_here) and ends_here:
                return self.hang_up(cut)
            self.send_head(answer)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return None

        def pass_events(self, answer):
            """Each as soon as it comes, until the server ends it."""
            self.close_connection = True
            self.send_head(answer)
            self.send_header("Connection", "close")
            self.end_headers()
            while data := answer.read1():
                self.wfile.write(data)

        def send_head(self, answer):
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "content-length", "connection", "date"):
                    self.send_header(name, value)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

        def hang_up(self, cut):
            cut.end()
            self.close_connection = True

        def finish(self):
            if self.upstream is not None:
                self.upstream.close()
            super().finish()

        def log_message(self, *_):
            pass

    return Handler
