"""Secrets on disk: sealed unless told otherwise, keys exchanged by a restart, a wrong key named instead of guessed around."""
import base64
import contextlib
import os

import pytest

import harness

CONFIG = """
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
"""
WORD = "plain-word-that-must-not-be-found"


def key(name, letter):
    return f"{{name: {name}, secret: {base64.b64encode(letter.encode() * 32).decode()}}}"


def on_disk(cluster, text):
    """Whether any file of the store holds these bytes."""
    wanted = text.encode()
    for path in (cluster.data / "store").rglob("*"):
        with contextlib.suppress(OSError):  # no file, or one that the store has just done with
            if wanted in path.read_bytes():
                return True
    return False


def cluster_with(directory, *arguments):
    return harness.Cluster(directory, "--runtime", "simulated", "--nodes", "1", *arguments)


def secret_of(cluster, name="s"):
    return base64.b64decode(cluster.get("secret", name)["data"]["k"]).decode()


def test_secrets_are_nowhere_on_disk_in_their_own_words(tmp_path):
    cluster = cluster_with(tmp_path).start()
    cluster.kubectl("create", "secret", "generic", "s", f"--from-literal=k={WORD}")
    cluster.kubectl("create", "configmap", "shown", f"--from-literal=k=shown-{WORD[:5]}")
    encoded = base64.b64encode(WORD.encode()).decode()
    assert on_disk(cluster, f"shown-{WORD[:5]}")  # what is not sealed would be found
    assert not on_disk(cluster, WORD) and not on_disk(cluster, encoded)
    own = cluster.data / "pki" / "secrets-encryption.yaml"
    assert os.stat(own).st_mode & 0o777 == 0o600
    cluster.kill()  # the log alone is there
    cluster.start()
    assert secret_of(cluster) == WORD
    cluster.stop()
    assert not on_disk(cluster, encoded)
    own.rename(tmp_path / "lost.yaml")
    with pytest.raises(AssertionError, match=r"secrets/default/s cannot be decrypted: it was sealed with key .* not configured"):
        cluster.start()
    (tmp_path / "lost.yaml").rename(own)
    cluster.start()
    assert secret_of(cluster) == WORD
    cluster.stop()


def test_keys_are_exchanged_by_a_restart(tmp_path):
    config = tmp_path / "encryption.yaml"
    config.write_text(CONFIG + f"  - aescbc: {{keys: [{key('old', 'a')}]}}\n")
    cluster = cluster_with(tmp_path, "--encryption-provider-config", str(config)).start()
    cluster.kubectl("create", "secret", "generic", "s", f"--from-literal=k={WORD}")
    assert on_disk(cluster, "k8s:enc:aescbc:v1:old:")
    before = cluster.get("secret", "s")
    cluster.stop()

    config.write_text(CONFIG + f"  - aesgcm: {{keys: [{key('new', 'b')}]}}\n  - aescbc: {{keys: [{key('old', 'a')}]}}\n")
    cluster.start()
    assert "secrets.sealed_anew" in cluster.tail(200)
    assert on_disk(cluster, "k8s:enc:aesgcm:v1:new:")
    after = cluster.get("secret", "s")
    assert int(after["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"])
    assert after["data"] == before["data"] and after["metadata"]["uid"] == before["metadata"]["uid"]
    # What Kubernetes' guide says next does no harm.
    cluster.kubectl("replace", "-f", "-", stdin=cluster.kubectl("get", "secrets", "-o", "json"))
    cluster.stop()

    config.write_text(CONFIG + f"  - aesgcm: {{keys: [{key('new', 'b')}]}}\n")
    cluster.start()
    assert secret_of(cluster) == WORD
    cluster.stop()

    config.write_text(CONFIG + f"  - aesgcm: {{keys: [{key('new', 'c')}]}}\n")
    with pytest.raises(AssertionError, match=r"secrets/default/s cannot be decrypted: it does not open with key .*new"):
        cluster.start()


def test_it_can_be_switched_off_and_on(tmp_path):
    off = cluster_with(tmp_path, "--encryption-provider-config", "off").start()
    off.kubectl("create", "secret", "generic", "s", f"--from-literal=k={WORD}")
    encoded = base64.b64encode(WORD.encode()).decode()
    assert on_disk(off, encoded)
    off.stop()
    on = cluster_with(tmp_path).start()
    assert secret_of(on) == WORD and "secrets.sealed_anew" in on.tail(200)
    on.stop()


def test_a_bad_configuration_does_not_start(tmp_path):
    config = tmp_path / "encryption.yaml"
    config.write_text(CONFIG + "  - kms: {name: k, endpoint: unix:///x}\n")
    with pytest.raises(AssertionError, match="provider kms is not available here"):
        cluster_with(tmp_path, "--encryption-provider-config", str(config)).start()


def reloads(cluster, status):
    for line in cluster.kubectl("get", "--raw", "/metrics").splitlines():
        if line.startswith("apiserver_encryption_config_controller_automatic_reloads_total") and f'status="{status}"' in line:
            return float(line.split()[-1])
    return 0


def test_keys_are_exchanged_without_a_restart(tmp_path):
    config = tmp_path / "encryption.yaml"
    config.write_text(CONFIG + f"  - aescbc: {{keys: [{key('old', 'a')}]}}\n")
    cluster = cluster_with(tmp_path, "--encryption-provider-config", str(config),
                           "--encryption-provider-config-automatic-reload=true").start()
    cluster.kubectl("create", "secret", "generic", "s", f"--from-literal=k={WORD}")
    process = cluster.process.pid
    assert reloads(cluster, "success") == 0

    config.write_text(CONFIG + "  - rot13: {}\n")  # nothing that is no good is taken
    cluster.wait("the mistake is counted", lambda: reloads(cluster, "failure") >= 1)
    cluster.wait("and named", lambda: "unknown provider" in cluster.tail(200))
    cluster.kubectl("create", "secret", "generic", "t", "--from-literal=k=v")

    config.write_text(CONFIG + f"  - secretbox: {{keys: [{key('new', 'b')}]}}\n  - aescbc: {{keys: [{key('old', 'a')}]}}\n")
    cluster.wait("the new key is in force", lambda: reloads(cluster, "success") == 1)
    cluster.wait("what was sealed is sealed anew", lambda: on_disk(cluster, "k8s:enc:secretbox:v1:new:"))
    assert cluster.process.pid == process and cluster.process.poll() is None
    assert "automatic_reload_last_timestamp_seconds{" in cluster.kubectl("get", "--raw", "/metrics")
    assert secret_of(cluster) == WORD
    cluster.stop()
    # What the old key wrote has been written anew: it can go.
    config.write_text(CONFIG + f"  - secretbox: {{keys: [{key('new', 'b')}]}}\n")
    cluster.start()
    assert secret_of(cluster) == WORD and secret_of(cluster, "t") == "v"
    cluster.stop()
