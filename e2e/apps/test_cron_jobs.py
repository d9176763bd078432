"""CronJobs with the unmodified kubectl, on simulated nodes."""
import json


def test_a_cron_job_runs_and_can_be_run_by_hand(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "cronjob", "tick", "--image=busybox", "--schedule=@every 2s", *n, "--", "true")
    simulated.kubectl("patch", "cronjob", "tick", *n, "-p",
                      '{"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"annotations":{"krater.io/sim-run-time":"100ms"}}}}}}}')
    simulated.wait("a job completes", lambda: (simulated.get("cronjob", "tick", *n).get("status") or {}).get("lastSuccessfulTime"))
    cells = simulated.kubectl("get", "cronjob", "tick", "--no-headers", *n).split()
    assert cells[0] == "tick" and "False" in cells
    simulated.kubectl("patch", "cronjob", "tick", *n, "-p", '{"spec":{"suspend":true}}')
    assert "True" in simulated.kubectl("get", "cj", "tick", *n)
    assert "job.batch/now created" in simulated.kubectl("create", "job", "now", "--from=cronjob/tick", *n)
    simulated.kubectl("wait", "--for=condition=complete", "job/now", *n, "--timeout=60s")
    owner = simulated.get("job", "now", *n)["metadata"]["ownerReferences"][0]
    assert owner["kind"] == "CronJob" and owner["name"] == "tick"
    described = simulated.kubectl("describe", "cronjob", "tick", *n)
    assert "SuccessfulCreate" in described and "Concurrency Policy:" in described
    simulated.kubectl("delete", "cronjob", "tick", *n)
    simulated.wait("its jobs go too", lambda: not simulated.get("jobs", *n)["items"])


def test_the_history_is_kept_short_and_nonsense_is_refused(simulated, namespace):
    n = ("-n", namespace)
    manifest = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"},
                "spec": {"schedule": "@every 1s", "successfulJobsHistoryLimit": 1, "concurrencyPolicy": "Forbid",
                         "jobTemplate": {"spec": {"template": {
                             "metadata": {"annotations": {"krater.io/sim-run-time": "50ms"}},
                             "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}}}}
    simulated.apply(manifest, *n)
    assert "unchanged" in simulated.apply(manifest, *n)
    scheduled = lambda: simulated.get("cronjob", "tick", *n).get("status", {}).get("lastScheduleTime")  # noqa: E731
    first = simulated.wait("it starts", scheduled)
    simulated.wait("it goes on", lambda: scheduled() > first)
    simulated.wait("one completed job is kept", lambda: len([
        j for j in simulated.get("jobs", *n)["items"] if (j.get("status") or {}).get("succeeded")]) == 1)
    for field, value, words in (("schedule", "x * * * *", "failed to parse int from x"),
                                ("schedule", "TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule"),
                                ("timeZone", "Mars/Base", "unknown time zone Mars/Base")):
        bad = {**manifest, "metadata": {"name": "bad"}, "spec": {**manifest["spec"], field: value}}
        assert words in simulated.kubectl_fails("create", "-f", "-", *n, stdin=json.dumps(bad))
