"""HTTP over TLS by hand, with the administrator's certificate: for what no well-behaved client does."""
import base64
import json
import socket
import ssl

import yaml


class Wire:
    def __init__(self, cluster):
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        for name, value in (("ca", config["clusters"][0]["cluster"]["certificate-authority-data"]),
                            ("crt", config["users"][0]["user"]["client-certificate-data"]),
                            ("key", config["users"][0]["user"]["client-key-data"])):
            (cluster.directory / f"wire.{name}").write_bytes(base64.b64decode(value))
        self.context = ssl.create_default_context(cafile=str(cluster.directory / "wire.ca"))
        self.context.load_cert_chain(str(cluster.directory / "wire.crt"), str(cluster.directory / "wire.key"))
        host, port = cluster.listen.split(":")
        self.address = (host, int(port))

    def tcp(self, receive_buffer=None):
        s = socket.socket()
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(30)
        s.connect(self.address)
        return s

    def tls(self, receive_buffer=None):
        return self.context.wrap_socket(self.tcp(receive_buffer), server_hostname="127.0.0.1")

    def session(self):
        return Session(self)


class Session:
    """One connection, one request after the other; a new connection when the server has closed it."""

    def __init__(self, wire):
        self.wire, self.socket, self.reader = wire, None, None

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def request(self, method, path, body=None, content_type="application/json"):
        """(status, parsed body). OSError when the connection breaks: the request may or may not have been done."""
        if not self.socket:
            self.socket = self.wire.tls()
            self.reader = self.socket.makefile("rb")
        try:
            self.socket.sendall(head(method, path, body, content_type))
            return self.answer()
        except (OSError, ValueError) as failure:
            self.close()
            raise OSError(str(failure)) from failure

    def answer(self):
        first = self.reader.readline().split()
        if len(first) < 2:
            raise OSError("the server has closed the connection")
        headers = {}
        while (line := self.reader.readline().strip()):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self.reader.read(int(headers["content-length"]))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return int(first[1]), json.loads(body) if "json" in headers.get("content-type", "") else body.decode()


def head(method, path, body=None, content_type="application/json", length=None):
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: krater", f"Content-Type: {content_type}",
             f"Content-Length: {len(data) if length is None else length}", "", ""]
    return "\r\n".join(lines).encode() + data
