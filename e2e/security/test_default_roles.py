"""The default roles over a restart: what is missing comes back, what people have added stays, what says so is left alone."""
import harness

ROLE = "system:node-bootstrapper"


def subjects(cluster, binding):
    return [s["name"] for s in cluster.get("clusterrolebinding", binding).get("subjects", [])]


def verbs(cluster, role, resource):
    return {v for rule in cluster.get("clusterrole", role)["rules"] if resource in rule.get("resources", []) for v in rule["verbs"]}


def test_roles_are_brought_up_to_date_at_a_start(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1").start()
    cluster.kubectl("patch", "clusterrole", ROLE, "--type=json", "-p",
                    '[{"op":"replace","path":"/rules","value":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}]')
    cluster.kubectl("patch", "clusterrolebinding", "system:basic-user", "--type=merge", "-p",
                    '{"subjects":[{"kind":"User","name":"jane","apiGroup":"rbac.authorization.k8s.io"}]}')
    cluster.kubectl("delete", "clusterrole", "system:node-proxier")
    cluster.kubectl("annotate", "clusterrole", "system:kube-dns", "rbac.authorization.kubernetes.io/autoupdate=false", "--overwrite")
    cluster.kubectl("patch", "clusterrole", "system:kube-dns", "--type=merge", "-p", '{"rules":[]}')
    untouched = cluster.get("clusterrole", "system:basic-user")["metadata"]["resourceVersion"]
    cluster.stop()
    cluster.start()
    try:
        assert verbs(cluster, ROLE, "certificatesigningrequests") == {"create", "get", "list", "watch"}
        assert verbs(cluster, ROLE, "pods") == {"get"}
        assert subjects(cluster, "system:basic-user") == ["jane", "system:authenticated"]
        assert "endpoints" in cluster.kubectl("describe", "clusterrole", "system:node-proxier")
        assert not cluster.get("clusterrole", "system:kube-dns").get("rules")
        assert cluster.get("clusterrole", "system:basic-user")["metadata"]["resourceVersion"] == untouched
    finally:
        cluster.stop()
