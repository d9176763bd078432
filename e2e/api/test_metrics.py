"""/metrics as a Prometheus for kube-apiserver reads it: who may, which names, and that the numbers are true."""
import re


def scrape(cluster, *args):
    """{(name, labels): value}; every line must be one that Prometheus can read."""
    out = {}
    for line in cluster.kubectl("get", "--raw", "/metrics", *args).splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP \S+ .+|TYPE \S+ (counter|gauge|histogram))", line), line
            continue
        match = re.fullmatch(r'([a-zA-Z_:][\w:]*)(?:\{((?:\w+="[^"\\\n]*",?)*)\})? (\S+)', line)
        assert match, line
        labels = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', match[2] or "")))
        out[match[1], labels] = float(match[3])
    return out


def value(metrics, name, **labels):
    return metrics.get((name, tuple(sorted(labels.items()))))


def total(metrics, name, **labels):
    return sum(v for (n, l), v in metrics.items() if n == name and set(labels.items()) <= set(l))


def test_the_names_and_labels_are_kube_apiservers(simulated, namespace):
    before = scrape(simulated)
    simulated.kubectl("create", "configmap", "counted", "-n", namespace)
    simulated.kubectl("create", "configmap", "dry", "-n", namespace, "--dry-run=server")
    simulated.kubectl("apply", "--server-side", "-f", "-", "-n", namespace,
                      stdin='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}')
    after = scrape(simulated)
    made = dict(component="apiserver", group="", version="v1", resource="configmaps", subresource="", scope="resource")

    def grew(verb, dry_run, code):
        labels = dict(made, verb=verb, dry_run=dry_run, code=code)
        return value(after, "apiserver_request_total", **labels) - (value(before, "apiserver_request_total", **labels) or 0)
    assert grew("POST", "", "201") >= 1 and grew("POST", "All", "201") == 1 and grew("APPLY", "", "201") == 1
    labels = dict(made, verb="POST", dry_run="")
    count = value(after, "apiserver_request_duration_seconds_count", **labels)
    assert value(after, "apiserver_request_duration_seconds_bucket", le="+Inf", **labels) == count
    assert value(after, "apiserver_request_duration_seconds_bucket", le="60", **labels) <= count
    assert value(after, "apiserver_current_inflight_requests", request_kind="readOnly") >= 1  # this one
    assert value(after, "apiserver_current_inflight_requests", request_kind="mutating") >= 0
    assert total(after, "apiserver_longrunning_requests", verb="WATCH") >= 1  # the nodes' agent
    assert value(after, "authentication_attempts", result="success") > value(before, "authentication_attempts", result="success")
    assert value(after, "authorization_attempts_total", result="allowed") > 0
    assert value(after, "process_open_fds") > 10 and value(after, "process_resident_memory_bytes") > 1 << 20
    assert value(after, "process_start_time_seconds") > 1.5e9
    assert value(after, "apiserver_storage_size_bytes", storage_cluster_id="krater-0") > 0


def test_the_numbers_are_true(simulated, namespace):
    simulated.wait("as many are told of as there are", lambda: value(scrape(simulated), "apiserver_storage_objects", resource="configmaps")
                   == len(simulated.get("configmaps", "-A")["items"]))
    metrics = scrape(simulated)
    assert value(metrics, "apiserver_storage_objects", resource="nodes") == 10
    assert value(metrics, "apiserver_storage_objects", resource="rayjobs.ray.io") == 0
    assert total(metrics, "workqueue_adds_total") > 0
    assert {name for (name, _) in metrics} >= {"workqueue_depth", "workqueue_retries_total"}
    simulated.kubectl("create", "job", "j", "--image=busybox", "-n", namespace, "--", "true")
    simulated.wait("the job controller was at work", lambda: total(scrape(simulated), "workqueue_adds_total") > total(
        metrics, "workqueue_adds_total"))
    simulated.wait("the agent was told of its pod", lambda: total(scrape(simulated), "apiserver_watch_events_total", kind="Pod") > 0)


def test_only_who_may_reads_them(simulated, namespace):
    simulated.kubectl("create", "serviceaccount", "prometheus", "-n", namespace)
    token = simulated.kubectl("create", "token", "prometheus", "-n", namespace).strip()
    robot = ("--kubeconfig", "/dev/null", "--server", simulated.url, "--insecure-skip-tls-verify", "--token", token)
    refused = simulated.kubectl_fails("get", "--raw", "/metrics", *robot)
    assert f'User "system:serviceaccount:{namespace}:prometheus" cannot get path "/metrics"' in refused
    simulated.kubectl("create", "clusterrole", f"{namespace}-scrape", "--verb=get", "--non-resource-url=/metrics")
    simulated.kubectl("create", "clusterrolebinding", f"{namespace}-scrape", f"--clusterrole={namespace}-scrape",
                      f"--serviceaccount={namespace}:prometheus")
    assert value(scrape(simulated, *robot), "authenticated_user_requests", username="other") > 0
    simulated.kubectl("delete", "clusterrolebinding,clusterrole", f"{namespace}-scrape")
