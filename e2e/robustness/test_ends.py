"""The end of a server amid load, wanted and unwanted: what was acknowledged is there, and the log says why it ended."""
import os
import re
import signal
import threading
import time

import pytest

import harness
import wire

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def small(tmp_path):
    made = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "2")
    made.start()
    yield made
    made.stop()


def write_until_it_breaks(rough, number, acknowledged):
    session, turn = rough.session(), 0
    while True:
        name = f"w{number}-{turn}"
        try:
            code, answer = session.request("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
        except OSError:
            return
        if code >= 500 or code == 429:
            return
        assert code == 201, answer
        acknowledged.append(name)
        turn += 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_the_end_amid_load_loses_nothing_that_was_acknowledged(small, end):
    rough, acknowledged = wire.Wire(small), []
    writers = [threading.Thread(target=write_until_it_breaks, args=(rough, number, acknowledged)) for number in range(8)]
    for one in writers:
        one.start()
    small.wait("there is load", lambda: len(acknowledged) > 200)
    small.process.send_signal(end)
    small.process.wait(60)
    for one in writers:
        one.join()
    assert small.process.returncode == (0 if end == signal.SIGTERM else -signal.SIGKILL)
    if end == signal.SIGTERM:
        log = small.log.read_text()
        assert re.search(rf"stop.requested signal=SIGTERM sender_pid={os.getpid()} ", log), log
        assert small.tail(1).endswith("stopped"), log
    small.start()
    there = {one["metadata"]["name"] for one in rough.session().request("GET", MAPS)[1]["items"]}
    assert set(acknowledged) <= there


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGUSR1"])
def test_a_death_says_why_in_the_last_line_of_the_log(small, name):
    number = getattr(signal, name)
    small.process.send_signal(number)
    small.process.wait(60)
    assert small.process.returncode == -number
    assert re.search(rf"Z E died signal={name} sender_pid={os.getpid()} sender_uid={os.getuid()} thread=", small.tail(1)), small.tail()


def test_a_hangup_is_an_orderly_end(small):
    small.stop(signal.SIGHUP)
    assert small.process.returncode == 0
    assert re.search(r"stop.requested signal=SIGHUP ", small.tail()), small.tail()


def test_an_impatient_sender_does_not_spoil_the_end(small):
    while small.process.poll() is None:
        small.process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert small.process.returncode == 0 and small.tail(1).endswith("stopped"), small.tail()


def test_the_next_start_tells_of_an_end_that_said_nothing(small):
    mark = small.data / "running"

    def marked():
        return mark.exists() and mark.read_text() == f"{small.process.pid}\n"
    small.wait("the run is marked", marked)
    pid = small.process.pid
    small.kill()
    small.start()
    small.wait("the run is marked", marked)
    assert re.search(rf"W previous_run.vanished pid={pid} ", small.log.read_text()), small.tail()
    small.stop()
    assert not mark.exists()
    text = small.log.read_text()
    small.start()
    small.wait("the run is marked", marked)
    assert "previous_run" not in small.log.read_text()[len(text):]
