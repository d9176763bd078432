"""JobFlows on simulated nodes: jobs from templates, one after the other."""
import json

import gangs
import vcjobs
from vcjobs import runs_for, task


def template(name, code=0):
    spec = vcjobs.job(name, task("w", annotations=runs_for(2, code)), least=1)["spec"]
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": name}, "spec": spec}


def flow(name, policy, **after):
    flows = [{"name": one, **({"dependsOn": {"targets": targets}} if targets else {})} for one, targets in after.items()]
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": name},
            "spec": {"jobRetainPolicy": policy, "flows": flows}}


def phase(cluster, name):
    return cluster.get("jobflow", name).get("status", {}).get("state", {}).get("phase")


def test_jobs_of_a_flow_follow_each_other(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        gangs.apply(cluster, template("a"), template("b"), template("c", code=1))
        refused = cluster.kubectl_fails("apply", "-f", "-", stdin=json.dumps(flow("ring", "retain", a=["b"], b=["a"])))
        assert "not DAG" in refused
        cluster.apply(flow("good", "retain", a=[], b=["a"]))
        cluster.wait("the flow succeeds", lambda: phase(cluster, "good") == "Succeed", timeout=60)
        assert cluster.kubectl("get", "jf", "good", "--no-headers").split()[1] == "Succeed"
        first, second = (cluster.get("vcjob", f"good-{name}") for name in "ab")
        assert second["metadata"]["creationTimestamp"] >= first["status"]["conditions"][-1]["lastTransitionTime"]
        cluster.wait("the template knows its job", lambda: cluster.get("jobtemplate", "a")["status"]["jobDependsOnList"] == ["good-a"])
        cluster.apply(flow("brief", "delete", a=[]))
        cluster.wait("its job is cleared away", lambda: phase(cluster, "brief") == "Succeed" and cluster.get("vcjob", "brief-a") is None)
        cluster.apply(flow("bad", "retain", c=[], b=["c"]))
        cluster.wait("the flow fails", lambda: phase(cluster, "bad") == "Failed", timeout=60)
        assert cluster.get("vcjob", "bad-b") is None
        cluster.kubectl("delete", "jobflow", "good", "bad", "brief")
        cluster.wait("all jobs go with them", lambda: not cluster.get("vcjob")["items"])
