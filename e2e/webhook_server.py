"""An admission webhook for stories: HTTPS on loopback with a certificate of an authority of its own. Each path is a
function from the AdmissionRequest to the AdmissionResponse; raw replies and silence are possible too."""
import base64
import contextlib
import http.server
import json
import pathlib
import ssl
import subprocess
import threading


class Authority:
    """Certificates by openssl, in a directory."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.certificate = self.directory / "ca.crt"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                      "-subj", "/CN=webhooks", "-keyout", "ca.key", "-out", "ca.crt")

    def _openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.directory, check=True, capture_output=True)

    def issue(self, *names):
        """Files of a certificate for these names, and of its key."""
        (self.directory / "names").write_text("subjectAltName=" + ",".join(
            ("IP:" if name[0].isdigit() else "DNS:") + name for name in names))
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=webhook",
                      "-keyout", "tls.key", "-out", "tls.csr")
        self._openssl("x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                      "-extfile", "names", "-out", "tls.crt")
        return self.directory / "tls.crt", self.directory / "tls.key"

    @property
    def bundle(self):
        return base64.b64encode(self.certificate.read_bytes()).decode()


class Raw:
    """A reply that is no AdmissionReview."""

    def __init__(self, body, status=200):
        self.body, self.status = body, status


def allow():
    return {"allowed": True}


def deny(message, code=403, reason="Forbidden"):
    return {"allowed": False, "status": {"message": message, "code": code, "reason": reason}}


def patch(*operations):
    return {"allowed": True, "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(list(operations)).encode()).decode()}


class WebhookServer:
    def __init__(self, directory, *names):
        self.authority = Authority(directory)
        self.answers, self.requests, self.connections = {}, [], 0
        self.silence = threading.Event()  # set: those that say nothing go on
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                server.connections += 1

            def log_message(self, *args):
                pass

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.split("?")[0]
                server.requests.append((self.path, review["request"]))
                answer = server.answers[path](review["request"])
                if answer is None:  # never, as far as anybody waits
                    server.silence.wait(60)
                    self.close_connection = True
                    return
                if not isinstance(answer, Raw):
                    answer = Raw(json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"],
                                             "response": {"uid": review["request"]["uid"], **answer}}))
                body = answer.body.encode()
                with contextlib.suppress(OSError):
                    self.send_response(answer.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, self.authority.issue("127.0.0.1", "localhost", *names)))
        # The handshake belongs to the connection's own thread.
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.silence.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def asked(self, path):
        return [request for where, request in self.requests if where.split("?")[0] == path]

    def client_config(self, path):
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.authority.bundle}


def configuration(kind, name, *webhooks):
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": name}, "webhooks": list(webhooks)}


def webhook(name, client_config, namespace, resources=("configmaps",), operations=("CREATE", "UPDATE"), groups=("",), **more):
    return {"name": name, "clientConfig": client_config, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "rules": [{"apiGroups": list(groups), "apiVersions": ["*"], "operations": list(operations),
                       "resources": list(resources)}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}, **more}
