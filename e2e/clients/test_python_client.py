"""The official Python client: list, create, watch and resume, patch, delete."""
import kubernetes


def client_of(cluster):
    configuration = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config(str(cluster.kubeconfig), client_configuration=configuration)
    return kubernetes.client.ApiClient(configuration)


def test_watch_sees_each_event_once_and_resumes(simulated, namespace):
    api = kubernetes.client.CoreV1Api(client_of(simulated))
    start = api.list_namespaced_config_map(namespace).metadata.resource_version
    for number in range(5):
        api.create_namespaced_config_map(namespace, {"metadata": {"name": f"w{number}"}, "data": {"n": str(number)}})
    api.patch_namespaced_config_map("w0", namespace, {"data": {"n": "changed"}})
    api.delete_namespaced_config_map("w1", namespace)
    seen, last = [], start
    watch = kubernetes.watch.Watch()
    for event in watch.stream(api.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=20):
        if event["object"].metadata.name.startswith("w"):
            seen.append((event["type"], event["object"].metadata.name))
        last = event["object"].metadata.resource_version
        if len(seen) == 3:
            break
    for event in kubernetes.watch.Watch().stream(api.list_namespaced_config_map, namespace, resource_version=last, timeout_seconds=20):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 7:
            break
    assert seen == [("ADDED", f"w{i}") for i in range(5)] + [("MODIFIED", "w0"), ("DELETED", "w1")]


def test_custom_objects_and_status(simulated, namespace):
    api = kubernetes.client.CustomObjectsApi(client_of(simulated))
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 2}}
    made = api.create_namespaced_custom_object("scheduling.volcano.sh", "v1beta1", namespace, "podgroups", group)
    assert made["spec"]["queue"] == "default"
    again = api.get_namespaced_custom_object("scheduling.volcano.sh", "v1beta1", namespace, "podgroups", "g")
    assert again["metadata"]["uid"] == made["metadata"]["uid"]
    api.delete_namespaced_custom_object("scheduling.volcano.sh", "v1beta1", namespace, "podgroups", "g")
