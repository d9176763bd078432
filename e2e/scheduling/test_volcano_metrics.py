"""Volcano's own metrics at /metrics: Prometheus' parser reads them, they say what is so, and what is gone is not in them."""
import collections

from prometheus_client.parser import text_string_to_metric_families

import gangs
import vcjobs

CONFIG = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: capacity}, {name: predicates}, {name: nodeorder}]
"""


class Scrape:
    def __init__(self, cluster):
        self.values, self.types = {}, {}
        for family in text_string_to_metric_families(cluster.kubectl("get", "--raw", "/metrics")):
            self.types[family.name] = family.type
            for sample in family.samples:
                key = sample.name, tuple(sorted(sample.labels.items()))
                assert key not in self.values, f"{key} is there twice"
                self.values[key] = sample.value

    def __call__(self, name, **labels):
        if self.types.get(f"volcano_{name}") == "counter":
            name += "_total"  # as the parser calls all counters
        return self.values.get((f"volcano_{name}", tuple(sorted(labels.items()))))

    def naming(self, text):
        """Volcano's series in whose labels it is."""
        return [key for key in self.values if key[0].startswith("volcano_") and any(text in value for _, value in key[1])]

    def check_histograms(self):
        buckets = collections.defaultdict(list)
        for (name, labels), value in self.values.items():
            if name.startswith("volcano_") and name.endswith("_bucket"):
                rest = tuple(label for label in labels if label[0] != "le")
                buckets[name[:-len("_bucket")], rest].append((float(dict(labels)["le"]), value))
        assert len(buckets) > 10
        for (name, labels), counts in buckets.items():
            counts.sort()
            assert [count for _, count in counts] == sorted(count for _, count in counts), (name, labels)
            assert counts[-1][0] == float("inf") and counts[-1][1] == self.values[f"{name}_count", labels], (name, labels)
            assert (f"{name}_sum", labels) in self.values


def told(cluster, *figures):
    """A scrape in which all of these are so; they follow what happens, each in its own time. A figure: name, labels, value
    or, where only a bound is known, whether a value is right."""
    wrong = []

    def look():
        now = Scrape(cluster)
        wrong[:] = [(name, labels, now(name, **labels)) for name, labels, wanted in figures
                    if not ((seen := now(name, **labels)) is not None and (wanted(seen) if callable(wanted) else seen == wanted))]
        return not wrong and now
    try:
        return cluster.wait("the figures are right", look)
    except AssertionError as late:
        raise AssertionError(f"told otherwise: {wrong}\n{late}") from None


def short(name, seconds):
    return vcjobs.job(name, vcjobs.task("w", cpu="1", annotations=vcjobs.runs_for(seconds)), least=1, queue="short")


def test_volcanos_metrics(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("q", deserved={"cpu": "1"}, capability={"cpu": "4", "memory": "8Gi"}), gangs.queue("short"))
        gangs.apply(cluster, vcjobs.job("runs", vcjobs.task("w", replicas=2, cpu="1"), least=2, queue="q"))
        vcjobs.wait_phase(cluster, "runs", "Running")
        gangs.apply(cluster, vcjobs.job("waits", vcjobs.task("w", replicas=3, cpu="1"), least=3, queue="q"),
                    *gangs.gang("large", 2, {"cpu": "4"}), short("ends", 0))
        cluster.wait("the gang is told of", lambda: Scrape(cluster)("unschedule_task_count", job_id="large"))
        vcjobs.wait_phase(cluster, "ends", "Completed")
        cluster.wait("its end is counted", lambda: Scrape(cluster)("job_completed_phase_count", job_name="default/ends", queue_name="short"))
        queue = dict(queue_name="q")
        group = vcjobs.group(cluster, "runs")["metadata"]["name"]
        labels = dict(job_name=group, job_namespace="default", queue="q")

        def least(bound):
            return lambda seen: seen >= bound
        now = told(
            cluster, ("queue_allocated_milli_cpu", queue, 2000), ("queue_allocated_scalar_resources", dict(queue, resource="pods"), 2),
            ("queue_deserved_milli_cpu", queue, 1000), ("queue_capacity_milli_cpu", queue, 4000),
            ("queue_real_capacity_milli_cpu", queue, 4000), ("queue_capacity_memory_bytes", queue, 8 << 30),
            ("queue_share", queue, 2), ("queue_overused", queue, 1), ("queue_pod_group_running_count", queue, 1),
            ("queue_pod_group_pending_count", queue, 1),  # "waits" is beyond the queue's limit
            ("unschedule_task_count", dict(job_id="large"), 1), ("unschedule_job_count", {}, 1),
            ("job_retry_counts", dict(job_id="large"), least(1)), ("job_share", dict(job_id=group, job_ns="default"), 0.25),
            ("e2e_job_scheduling_start_time", labels, least(0)), ("e2e_job_scheduling_last_time", labels, least(0)),
            ("e2e_job_scheduling_duration", labels, lambda seen: seen < 60000),
            ("e2e_job_scheduling_latency_milliseconds_count", {}, least(2)),
            ("task_scheduling_latency_milliseconds_count", dict(stage="Bound"), least(3)),
            ("action_scheduling_latency_milliseconds_count", dict(action="allocate"), least(1)),
            ("plugin_scheduling_latency_milliseconds_count", dict(plugin="capacity", OnSession="OnSessionOpen"), least(1)),
            ("controller_job_to_pod_creation_latency_milliseconds_count", {}, least(3)))
        now.check_histograms()
        assert 0 <= now("e2e_job_scheduling_last_time", **labels) - now("e2e_job_scheduling_start_time", **labels) < 60
        assert now.types["volcano_job_retry_counts"] == "counter" and now.types["volcano_queue_share"] == "gauge"

        cluster.kubectl("delete", "vcjob", "runs", "waits", "ends")
        gangs.drop(cluster, "large")
        cluster.kubectl("delete", "queue", "q")
        cluster.wait("nothing is told of what is gone", lambda: (
            lambda gone: not any(gone.naming(text) for text in (group, "ends", "large"))
            and not [key for key in gone.naming("q") if ("queue_name", "q") in key[1]])(Scrape(cluster)))
