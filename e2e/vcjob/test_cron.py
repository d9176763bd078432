"""Volcano's CronJobs on simulated nodes: what they tell, in Volcano's words."""
import gangs
import vcjobs


def cron(name, concurrency, schedule="@every 1s"):
    spec = vcjobs.job(name, vcjobs.task("w"), least=1)["spec"]
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob", "metadata": {"name": name},
            "spec": {"schedule": schedule, "concurrencyPolicy": concurrency, "jobTemplate": {"spec": spec}}}


def told(cluster, name):
    return {(e["type"], e["reason"], e["message"]) for e in cluster.get("events")["items"] if e["involvedObject"]["name"] == name}


def test_they_tell_what_they_do_in_volcanos_words(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        gangs.apply(cluster, cron("one", "Forbid"), cron("never", "Allow", "0 0 31 2 *"))
        cluster.wait("the next one is skipped", lambda: (
            "Warning", "ForbidConcurrent", "Skipping job creation because another job is already running") in told(cluster, "one"), timeout=90)
        job = cluster.get("vcjob")["items"][0]["metadata"]["name"]
        cluster.wait("the first is told", lambda: (
            "Normal", "SuccessfulCreate", f"Created job {job} for CronJob default/one") in told(cluster, "one"))
        cluster.wait("what never comes is told", lambda: told(cluster, "never") == {(
            "Warning", "InvalidSchedule", "Error getting schedule time: time difference between two schedules is less than 1 second")})
        cluster.kubectl("patch", "cronjobs.batch.volcano.sh", "one", "--type=merge", "-p", '{"spec":{"suspend":true}}')
        vcjobs.wait_phase(cluster, job, "Running")
        vcjobs.order(cluster, job, "CompleteJob")
        cluster.wait("its end is told", lambda: (
            "Normal", "SawCompletedJob", f"Saw completed job: {job} in active, remove") in told(cluster, "one"))
