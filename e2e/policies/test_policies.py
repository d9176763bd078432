"""What users forbid in expressions: ValidatingAdmissionPolicies, written and met with the real kubectl."""
import contextlib

MODEST = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: modest-replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  variables:
  - {name: wanted, expression: "has(object.spec.replicas) ? object.spec.replicas : 1"}
  validations:
  - expression: variables.wanted <= 3
    messageExpression: "'at most 3 replicas, not ' + string(variables.wanted)"
"""

PRIVILEGED = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-privileged-pods}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: >-
      object.spec.containers.all(c,
      !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)
    message: privileged containers are not wanted here
    reason: Forbidden
"""


def binding(policy, namespace, action):
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": f"{policy}-{namespace}"},
            "spec": {"policyName": policy, "validationActions": [action],
                     "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}}}


@contextlib.contextmanager
def policy(cluster, manifest, name, namespace, action="Deny"):
    cluster.apply(manifest)
    cluster.apply(binding(name, namespace, action))
    try:
        yield
    finally:
        cluster.kubectl("delete", "validatingadmissionpolicybinding", f"{name}-{namespace}", "--ignore-not-found")
        cluster.kubectl("delete", "validatingadmissionpolicy", name)


def deployment(name, replicas, privileged=False):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "c", "image": "x",
                                                           "securityContext": {"privileged": privileged}}]}}}}


def test_a_policy_denies_creates_and_patches_until_its_binding_goes(simulated, namespace):
    n = ("-n", namespace)
    with policy(simulated, MODEST, "modest-replicas", namespace):
        row = simulated.kubectl("get", "validatingadmissionpolicies", "modest-replicas", "--no-headers").split()
        assert row[:3] == ["modest-replicas", "1", "<unset>"]
        bound = simulated.kubectl("get", "validatingadmissionpolicybindings", "--no-headers").split()
        assert bound[:3] == [f"modest-replicas-{namespace}", "modest-replicas", "<unset>"]

        code, _, refused = simulated.try_kubectl("create", "deployment", "big", "--image=x", "--replicas=5", *n)
        assert code != 0
        assert (f"ValidatingAdmissionPolicy 'modest-replicas' with binding 'modest-replicas-{namespace}' denied request: "
                "at most 3 replicas, not 5") in refused
        simulated.apply(deployment("small", 2), *n)
        refused = simulated.kubectl_fails("patch", "deployment", "small", *n, "-p", '{"spec":{"replicas":4}}')
        assert "at most 3 replicas, not 4" in refused
        refused = simulated.kubectl_fails("create", "deployment", "dry", "--image=x", "--replicas=5", "--dry-run=server", *n)
        assert "not 5" in refused

        simulated.kubectl("delete", "validatingadmissionpolicybinding", f"modest-replicas-{namespace}")
        simulated.apply(deployment("big", 5), *n)


def test_a_warning_lets_the_write_through(simulated, namespace):
    with policy(simulated, MODEST, "modest-replicas", namespace, "Warn"):
        code, _, said = simulated.try_kubectl("create", "deployment", "loud", "--image=x", "--replicas=9", "-n", namespace)
        assert code == 0, said
        assert "Warning: Validation failed for ValidatingAdmissionPolicy 'modest-replicas'" in said


def test_pods_that_controllers_make_are_asked_about_too(simulated, namespace):
    n = ("-n", namespace)
    with policy(simulated, PRIVILEGED, "no-privileged-pods", namespace):
        simulated.apply(deployment("root", 1, privileged=True), *n)
        condition = simulated.wait("it says why", lambda: next(
            (c for c in (simulated.get("deploy", "root", *n)["status"].get("conditions") or [])
             if c["type"] == "ReplicaFailure"), None))
        assert "privileged containers are not wanted here" in condition["message"]
        assert not simulated.get("pods", *n)["items"]


def test_a_policy_that_does_not_compile_is_refused_with_the_place(simulated):
    refused = simulated.kubectl_fails("apply", "-f", "-", stdin=MODEST.replace("<= 3", "<= nobody"))
    assert "spec.validations[0].expression" in refused
    assert "undeclared reference to 'nobody' (in container '')" in refused
