"""RayJob manifests of the stories: the sample's shape with another program, size or queue."""
import copy
import pathlib

import yaml

SAMPLE = list(yaml.safe_load_all((pathlib.Path(__file__).parent.parent / "samples" / "rayjob.yaml").read_text()))


def sample(name, program=None, cpu=None, queue=None, entrypoint=None, workers=None):
    """[ConfigMap, RayJob] called `name`; `program` replaces the sample's."""
    config, job = copy.deepcopy(SAMPLE[1]), copy.deepcopy(SAMPLE[2])
    config["metadata"]["name"] = f"{name}-code"
    job["metadata"]["name"] = name
    if program is not None:
        config["data"]["sample.py"] = program
    if queue is not None:
        job["metadata"]["labels"]["volcano.sh/queue-name"] = queue
    if entrypoint is not None:
        job["spec"]["entrypoint"] = entrypoint
    cluster = job["spec"]["rayClusterSpec"]
    cluster["headGroupSpec"]["template"]["spec"]["volumes"][0]["configMap"]["name"] = f"{name}-code"
    if workers is not None:
        group = cluster["workerGroupSpecs"][0]
        group["replicas"] = group["minReplicas"] = group["maxReplicas"] = workers
    if cpu is not None:
        for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
            group["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
            group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"] = cpu
    return [config, job]


def queue(name):
    made = copy.deepcopy(SAMPLE[0])
    made["metadata"]["name"] = name
    return made


def as_list(objects):
    return {"apiVersion": "v1", "kind": "List", "items": objects}
