#!/usr/bin/env python3
"""A mutating webhook: containers on simulated nodes start late, as those of a kubelet do that unpacks or pulls images.

late_starts.py PORT DIR DELAY [IMAGE...]: DIR gets a certificate and webhook.yaml, the configuration to apply. With
images only pods that have one of them are late."""
import base64
import http.server
import json
import pathlib
import ssl
import subprocess
import sys

CONFIGURATION = """apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {{name: late-starts}}
webhooks:
- name: late-starts.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {{url: "https://127.0.0.1:{port}/", caBundle: {bundle}}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
"""


def response(request, delay, images):
    out = {"uid": request["uid"], "allowed": True}
    pod = request["object"]
    used = [container["image"] for container in pod["spec"]["containers"]]
    if not images or any(image in name for image in images for name in used):
        notes = {**(pod["metadata"].get("annotations") or {}), "krater.io/sim-start-delay": delay}
        patch = [{"op": "add", "path": "/metadata/annotations", "value": notes}]
        out |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
    return out


def handler(delay, images):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                      "response": response(review["request"], delay, images)}
            body = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def main(port, directory, delay, *images):
    directory = pathlib.Path(directory)
    certificate, key = directory / "late.crt", directory / "late.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out",
                    certificate, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), handler(delay, images))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    bundle = base64.b64encode(certificate.read_bytes()).decode()
    (directory / "webhook.yaml").write_text(CONFIGURATION.format(port=port, bundle=bundle))
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
