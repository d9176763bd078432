"""The cluster's own signers: what each takes, what it makes, who may let it, with the unmodified kubectl and openssl."""
import base64
import json
import subprocess

SERVING = "kubernetes.io/kubelet-serving"
CLIENT = "kubernetes.io/kube-apiserver-client"


def request(directory, name, subject, signer, usages, names=None):
    key, csr = directory / f"{name}.key", directory / f"{name}.csr"
    more = ["-addext", f"subjectAltName={names}"] if names else []
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
                    "-out", str(csr), "-subj", subject, *more], check=True, capture_output=True)
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
            "spec": {"request": base64.b64encode(csr.read_bytes()).decode(), "signerName": signer, "usages": usages}}


def condition(cluster, name, kind):
    found = [c for c in cluster.get("csr", name)["status"].get("conditions", []) if c["type"] == kind]
    return found[0] if found else None


def shown(directory, pem):
    path = directory / "made.crt"
    path.write_bytes(base64.b64decode(pem))
    return subprocess.run(["openssl", "x509", "-noout", "-text", "-in", str(path)], check=True, capture_output=True, text=True).stdout


def test_a_nodes_serving_certificate_waits_for_people_and_names_what_it_serves(simulated, tmp_path):
    simulated.apply(request(tmp_path, "serving", "/O=system:nodes/CN=system:node:n1", SERVING,
                            ["digital signature", "server auth"], "DNS:n1.local,IP:10.0.0.7"))
    assert simulated.kubectl("get", "csr", "serving", "--no-headers").split()[-1] == "Pending"
    simulated.kubectl("certificate", "approve", "serving")
    pem = simulated.wait("it is signed", lambda: simulated.get("csr", "serving")["status"].get("certificate"))
    text = shown(tmp_path, pem)
    for part in ("O = system:nodes, CN = system:node:n1", "DNS:n1.local, IP Address:10.0.0.7", "TLS Web Server Authentication",
                 "Digital Signature", "CA:FALSE"):
        assert part in text, text
    assert "Client Authentication" not in text


def test_what_a_signer_does_not_take_is_failed_and_says_why(simulated, tmp_path):
    cases = (("no-names", "/O=system:nodes/CN=system:node:n1", SERVING, ["digital signature", "server auth"], None,
              "DNS or IP subjectAltName is required"),
             ("usages", "/O=system:nodes/CN=system:node:n1", SERVING, ["digital signature", "client auth"], "DNS:n1",
              "usages did not match [digital signature key encipherment server auth]"),
             ("not-a-node", "/O=system:nodes/CN=jane", SERVING, ["digital signature", "server auth"], "DNS:n1",
              "subject common name does not begin with system:node:"),
             ("client", "/CN=jane", CLIENT, ["client auth", "server auth"], None,
              "invalid usage for client certificate: server auth"))
    for name, subject, signer, usages, names, why in cases:
        simulated.apply(request(tmp_path, name, subject, signer, usages, names))
        simulated.kubectl("certificate", "approve", name)
        failed = simulated.wait(f"{name} is failed", lambda name=name: condition(simulated, name, "Failed"))
        assert (failed["reason"], failed["message"], failed["status"]) == ("SignerValidationFailure", why, "True")
        assert not simulated.get("csr", name)["status"].get("certificate")
        assert simulated.kubectl("get", "csr", name, "--no-headers").split()[-1] == "Approved,Failed"


def test_the_legacy_signer_cannot_be_asked(simulated, tmp_path):
    refused = simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(
        request(tmp_path, "legacy", "/CN=jane", "kubernetes.io/legacy-unknown", ["client auth"])))
    assert "the legacy signerName is not allowed via this API version" in refused, refused


def test_an_approver_of_one_signer_approves_no_other(simulated, tmp_path):
    simulated.kubectl("create", "clusterrole", "csr-handler", "--verb=get,list,update", "--resource=certificatesigningrequests",
                      "--resource=certificatesigningrequests/approval")
    simulated.kubectl("create", "clusterrolebinding", "ann-handles", "--clusterrole=csr-handler", "--user=ann")
    simulated.kubectl("create", "clusterrolebinding", "ann-approves", "--user=ann",
                      "--clusterrole=system:certificates.k8s.io:kubelet-serving-approver")
    simulated.apply(request(tmp_path, "ann-serving", "/O=system:nodes/CN=system:node:n2", SERVING,
                            ["digital signature", "server auth"], "DNS:n2"))
    simulated.apply(request(tmp_path, "ann-client", "/CN=bob", CLIENT, ["client auth"]))
    simulated.kubectl("certificate", "approve", "ann-serving", "--as", "ann")
    refused = simulated.kubectl_fails("certificate", "approve", "ann-client", "--as", "ann")
    assert f'user not permitted to approve requests with signerName "{CLIENT}"' in refused, refused
