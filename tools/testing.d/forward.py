"""The address of a Service of the local control plane, where nobody answers, led to a program on this machine.

The API server calls webhooks there. The address is one of loopback (run.d/cluster.py); its port, 443, takes root.
"""

import contextlib
import select
import socket
import threading


class Forwarder:
    """Passes connections to address:443 on to a port of 127.0.0.1, until it is closed."""

    def __init__(self, address, port, listening=443):
        self.target = ("127.0.0.1", port)
        try:
            self.server = socket.create_server((address, listening))
        except PermissionError as error:
            raise AssertionError(
                f"{address}:{listening}, where the API server calls webhooks, takes root to listen at: run this test as root, "
                f"or allow it with `sysctl -w net.ipv4.ip_unprivileged_port_start={listening}`"
            ) from error
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        # Wakes the thread that accepts; closing alone doesn't.
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(self.target) as target:
            ends = {client: target, target: client}
            while True:
                for source in select.select(list(ends), [], [])[0]:
                    data = source.recv(65536)
                    if not data:
                        return
                    ends[source].sendall(data)
