"""Certificate requests: people ask, people approve, the cluster signs; with the unmodified kubectl."""
import base64
import json
import subprocess

import yaml


def request(tmp_path, name, subject):
    key, csr = tmp_path / f"{name}.key", tmp_path / f"{name}.csr"
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
                    "-out", str(csr), "-subj", subject], check=True, capture_output=True)
    return key, {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
                 "spec": {"request": base64.b64encode(csr.read_bytes()).decode(), "signerName": "kubernetes.io/kube-apiserver-client",
                          "usages": ["client auth"], "expirationSeconds": 3600}}


def test_a_person_asks_and_is_let_in(simulated, tmp_path):
    key, csr = request(tmp_path, "jane", "/O=dev/CN=jane")
    simulated.apply(csr)
    found = simulated.get("csr", "jane")
    assert found["spec"]["username"] == "kubernetes-admin" and "system:masters" in found["spec"]["groups"]
    cells = simulated.kubectl("get", "csr", "jane", "--no-headers").split()
    assert cells[2:] == ["kubernetes.io/kube-apiserver-client", "kubernetes-admin", "60m", "Pending"], cells
    assert "certificatesigningrequest.certificates.k8s.io/jane approved" in simulated.kubectl("certificate", "approve", "jane")
    certificate = simulated.wait("it is signed", lambda: simulated.get("csr", "jane")["status"].get("certificate"))
    assert simulated.kubectl("get", "csr", "jane", "--no-headers").split()[-1] == "Approved,Issued"
    pem = tmp_path / "jane.crt"
    pem.write_bytes(base64.b64decode(certificate))
    shown = subprocess.run(["openssl", "x509", "-noout", "-subject", "-in", str(pem)], check=True, capture_output=True, text=True).stdout
    assert "jane" in shown and "dev" in shown

    admin = yaml.safe_load(simulated.kubeconfig.read_text())
    admin["users"][0]["user"] = {"client-certificate-data": base64.b64encode(pem.read_bytes()).decode(),
                                 "client-key-data": base64.b64encode(key.read_bytes()).decode()}
    config = tmp_path / "jane.kubeconfig"
    config.write_text(yaml.safe_dump(admin))
    who = simulated.kubectl("--kubeconfig", str(config), "auth", "whoami")
    assert "jane" in who and "dev" in who
    refused = simulated.kubectl_fails("--kubeconfig", str(config), "get", "pods")
    assert 'User "jane" cannot list resource "pods"' in refused


def test_what_is_denied_stays_denied(simulated, tmp_path):
    _, csr = request(tmp_path, "mallory", "/CN=mallory")
    simulated.apply(csr)
    simulated.kubectl("certificate", "deny", "mallory")
    assert simulated.kubectl("get", "csr", "mallory", "--no-headers").split()[-1] == "Denied"
    simulated.kubectl_fails("certificate", "approve", "mallory")
    assert not simulated.get("csr", "mallory")["status"].get("certificate")


def test_nobody_asks_to_be_the_master(simulated, tmp_path):
    _, csr = request(tmp_path, "root", "/O=system:masters/CN=root")
    refused = simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(csr))
    assert "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed" in refused, refused


def test_what_one_may_do_and_who_one_is(simulated, namespace):
    n = ("-n", namespace)
    assert "kubernetes-admin" in simulated.kubectl("auth", "whoami")
    assert simulated.kubectl("auth", "can-i", "delete", "pods", *n).strip() == "yes"
    simulated.kubectl("create", "sa", "robot", *n)
    robot = f"system:serviceaccount:{namespace}:robot"
    assert simulated.try_kubectl("auth", "can-i", "get", "pods", "--as", robot, *n)[1].strip() == "no"
    simulated.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods", *n)
    simulated.kubectl("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={namespace}:robot", *n)
    assert simulated.kubectl("auth", "can-i", "get", "pods", "--as", robot, *n).strip() == "yes"
    listed = simulated.kubectl("auth", "can-i", "--list", "--as", robot, *n)
    assert any(line.split()[0] == "pods" and "get" in line and "list" in line for line in listed.splitlines() if line.strip()), listed
    token = simulated.kubectl("create", "token", "robot", "--duration=20m", *n).strip()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    done = json.loads(simulated.kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps(review)))
    assert done["status"]["authenticated"] and done["status"]["user"]["username"] == robot
