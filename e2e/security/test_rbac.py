"""Roles and bindings as kubectl users meet them: who may what, for whom one may act, and that nobody hands out more than he has."""


def token_user(cluster, namespace, account):
    """kubectl arguments that make it a service account of that namespace."""
    cluster.kubectl("create", "serviceaccount", account, "-n", namespace)
    token = cluster.kubectl("create", "token", account, "-n", namespace).strip()
    # An empty kubeconfig: no client certificate may speak for the token.
    return ("--kubeconfig", "/dev/null", "--server", cluster.url, "--insecure-skip-tls-verify", "--token", token)


def test_the_default_roles_are_there_and_collect_their_rules(simulated):
    names = simulated.kubectl("get", "clusterroles", "-o", "name").split()
    for name in ("cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"):
        assert f"clusterrole.rbac.authorization.k8s.io/{name}" in names
    simulated.wait("edit holds what view holds", lambda: "pods/log" in simulated.kubectl("describe", "clusterrole", "edit"))
    simulated.wait("view holds what its parts hold", lambda: "rayjobs.ray.io" in simulated.kubectl("describe", "clusterrole", "view"))
    assert "ClusterRole/cluster-admin" in simulated.kubectl("get", "clusterrolebinding", "cluster-admin", "-o", "wide")


def test_a_role_binding_opens_its_namespace_and_nothing_else(simulated, namespace):
    robot = token_user(simulated, namespace, "robot")
    refused = simulated.kubectl_fails("get", "pods", "-n", namespace, *robot)
    assert (f'pods is forbidden: User "system:serviceaccount:{namespace}:robot" cannot list resource "pods" in API group ""'
            f' in the namespace "{namespace}"') in refused
    assert simulated.try_kubectl("auth", "can-i", "create", "rayjobs", "-n", namespace, *robot)[1].strip() == "no"
    simulated.kubectl("create", "rolebinding", "robots-edit", "--clusterrole", "edit", f"--serviceaccount={namespace}:robot",
                      "-n", namespace)
    simulated.wait("the binding counts",
                   lambda: simulated.try_kubectl("auth", "can-i", "create", "rayjobs", "-n", namespace, *robot)[1].strip() == "yes")
    simulated.kubectl("create", "configmap", "mine", "--from-literal=a=1", "-n", namespace, *robot)
    assert "mine" in simulated.kubectl("get", "cm", "-n", namespace, *robot)
    assert "forbidden" in simulated.kubectl_fails("get", "cm", "-n", "default", *robot)
    assert "forbidden" in simulated.kubectl_fails("get", "nodes", *robot)
    assert "rayjobs.ray.io" in simulated.kubectl("auth", "can-i", "--list", "-n", namespace, *robot)
    simulated.kubectl("delete", "rolebinding", "robots-edit", "-n", namespace)
    assert "forbidden" in simulated.kubectl_fails("get", "cm", "-n", namespace, *robot)


def test_nobody_hands_out_more_than_he_has(simulated, namespace):
    robot = token_user(simulated, namespace, "keeper")
    n = ("-n", namespace)
    simulated.kubectl("create", "role", "keeper", "--verb=create,get,list", "--resource=roles,rolebindings,configmaps", *n)
    simulated.kubectl("create", "rolebinding", "keeper", "--role", "keeper", f"--serviceaccount={namespace}:keeper", *n)
    simulated.kubectl("create", "role", "less", "--verb=get", "--resource=configmaps", *n, *robot)
    refused = simulated.kubectl_fails("create", "role", "more", "--verb=get", "--resource=secrets", *n, *robot)
    assert "is attempting to grant RBAC permissions not currently held" in refused
    assert '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}' in refused
    assert "not currently held" in simulated.kubectl_fails("create", "rolebinding", "all", "--clusterrole", "cluster-admin",
                                                           "--user", "keeper", *n, *robot)
    simulated.kubectl("create", "rolebinding", "share", "--role", "less", "--user", "bob", *n, *robot)


def test_acting_as_somebody_else(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "rolebinding", "readers", "--clusterrole", "view", "--group", "readers", *n)
    assert simulated.kubectl("auth", "can-i", "list", "pods", *n, "--as", "ann", "--as-group", "readers").strip() == "yes"
    assert "forbidden" in simulated.kubectl_fails("get", "pods", *n, "--as", "ann")
    assert "ann" in simulated.kubectl("auth", "whoami", "--as", "ann")
    robot = token_user(simulated, namespace, "plain")
    refused = simulated.kubectl_fails("get", "pods", *n, "--as", "ann", *robot)
    assert 'cannot impersonate resource "users"' in refused


def test_what_a_binding_refers_to_never_changes(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "rolebinding", "fixed", "--clusterrole", "view", "--user", "ann", *n)
    refused = simulated.kubectl_fails("patch", "rolebinding", "fixed", *n, "--type", "merge", "-p", '{"roleRef":{"name":"edit"}}')
    assert "cannot change roleRef" in refused
    assert "unsupported value" in simulated.kubectl_fails(
        "create", "-f", "-", *n, stdin='{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"x"},'
        '"subjects":[{"kind":"Robot","name":"r"}],"roleRef":{"kind":"Role","name":"y"}}').lower()
