"""Git on loopback: over HTTPS its own `http-backend`, behind a server with a certificate of a CA of its own, and over ssh."""

import base64
import http.server
import itertools
import os
import pwd
import re
import shutil
import ssl
import subprocess
import threading

import oci_registry
import worlds

USER, PASSWORD = "robot", "s3cret-of-the-repository"
PORTS = itertools.count(7000)  # one for each server of this process
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(folder, *words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)


def environment(home, **more):
    """Of git for a test: nobody's configuration counts, and no repository of whose hook the test is a part."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name != "XDG_CONFIG_HOME"}
    return {**inherited, "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", **more}


def git(folder, *words, **more):
    """What it says."""
    names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b"))}
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": worlds.LIMIT}
    return subprocess.run(["git", *words], check=True, cwd=folder, env=environment(folder, **names, **more), **options).stdout


class Repositories:
    """Repositories below a folder, and what fills them."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def create(self, name):
        path = os.path.join(self.folder, name)
        git(self.folder, "init", "-q", "--bare", "-b", "main", path)
        git(path, "config", "uploadpack.allowFilter", "true")
        return path

    def clone(self, name, folder):
        """A working copy, from which one pushes."""
        git(self.folder, "clone", "-q", os.path.join(self.folder, name), folder)
        git(folder, "checkout", "-q", "-B", "main")
        return folder

    def release(self, name, tag, source, path=""):
        """A tag with the files of a folder, as its only ones."""
        work = os.path.join(self.folder, "work")
        shutil.rmtree(work, ignore_errors=True)
        self.clone(name, work)
        shutil.copytree(source, os.path.join(work, path), dirs_exist_ok=True)
        git(work, "add", "-A")
        git(work, "commit", "-q", "--allow-empty", "-m", tag)
        git(work, "tag", "-a", "-m", tag, tag)
        git(work, "push", "-q", "origin", "main", tag)


class Server(Repositories):
    """Asks for USER and PASSWORD."""

    def __init__(self, state):
        self.state = os.path.join(state, "git")
        super().__init__(os.path.join(self.state, "repositories"))
        self.host = oci_registry.own_address()
        self.address = f"{self.host}:{next(PORTS)}"
        with open(os.path.join(self.state, "names"), "w", encoding="utf-8") as file:
            file.write(f"subjectAltName=IP:{self.host}\n")
        openssl(self.state, "req", "-x509", *KEY, "-days", "2", "-subj", "/CN=CA of git", "-keyout", "ca.key", "-out", "ca.crt")
        openssl(self.state, "req", *KEY, "-subj", "/CN=git", "-keyout", "tls.key", "-out", "request")
        by = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial")
        openssl(self.state, "x509", "-req", "-in", "request", *by, "-days", "2", "-extfile", "names", "-out", "tls.crt")
        self.server = None
        self.start()

    def ca(self):
        with open(os.path.join(self.state, "ca.crt"), encoding="utf-8") as file:
            return file.read()

    def url(self, name):
        return f"https://{self.address}/{name}"

    def start(self):
        handler = type("Handler", (Handler,), {"repositories": self.folder})
        self.server = Quiet((self.host, int(self.address.rpartition(":")[2])), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.state, "tls.crt"), os.path.join(self.state, "tls.key"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):  # a client that doesn't trust the certificate, say
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    """One request is one run of the CGI program."""

    repositories = ""
    wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    def log_message(self, *_):
        pass

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != self.wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        variables = {"GIT_PROJECT_ROOT": self.repositories, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query}
        variables |= {"REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": USER}
        variables |= {"CONTENT_LENGTH": str(len(body)), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, check=False, env=environment(self.repositories, **variables))
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
        status = re.match(r"\d+", dict(lines).get("Status", "200" if lines else "500"))
        self.send_response(int(status.group()))
        for name, value in lines:
            if name and name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = serve


SSHD = "/usr/sbin/sshd"


class Ssh(Repositories):
    """A real sshd, which lets in whoever has a key of `authorized`. It ends with the others of the world."""

    def __init__(self, state, processes):
        self.state = os.path.join(state, "ssh")
        super().__init__(os.path.join(self.state, "repositories"))
        self.host, self.port = oci_registry.own_address(), next(PORTS)
        self.address = f"{self.host}:{self.port}"
        self.authorized = os.path.join(self.state, "authorized")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(self.state, "host")], check=True)
        lines = [f"ListenAddress {self.address}", f"HostKey {self.state}/host", f"PidFile {self.state}/pid", f"AuthorizedKeysFile {self.authorized}"]
        lines += ["StrictModes no", "UsePAM no", "PasswordAuthentication no", "PermitRootLogin yes"]  # and no AcceptEnv, as most have none
        with open(os.path.join(self.state, "config"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # the package's own start makes it
        self.processes, self.process = processes, processes.start("sshd", [SSHD, "-D", "-e", "-f", os.path.join(self.state, "config")])
        worlds.until("sshd answers", self.answers)

    def answers(self):
        """It may have ended by itself, and then says why."""
        self.processes.check()
        scan = ["ssh-keyscan", "-p", str(self.port), self.host]
        return subprocess.run(scan, capture_output=True, check=False, timeout=worlds.LIMIT).stdout

    def url(self, name):
        user = pwd.getpwuid(os.geteuid()).pw_name  # LOGNAME may be another's
        return f"ssh://{user}@{self.address}{self.folder}/{name}"
