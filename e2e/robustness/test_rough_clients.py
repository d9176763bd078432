"""Clients that behave badly, many at once: the others notice nothing, and the server is afterwards what it was before."""
import json
import os
import resource
import socket
import struct
import threading
import time

import pytest

import harness
import wire

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def in_parallel(count, work):
    """Runs work(0) … work(count - 1) side by side; the first failure is the caller's."""
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def descriptors(cluster):
    return len(os.listdir(f"/proc/{cluster.process.pid}/fd"))


def resident_mib(cluster):
    with open(f"/proc/{cluster.process.pid}/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / (1 << 20)


@pytest.fixture(scope="module")
def rough(simulated):
    return wire.Wire(simulated)


def test_writers_of_one_object_lose_no_write(rough):
    """Eight clients count in one object, with its version as their lock; whoever is late reads again. All have read before
    the first of them writes, so seven are late for certain."""
    writers, rounds, conflicts = 8, 25, []
    all_have_read = threading.Barrier(writers, timeout=60)
    assert rough.session().request("POST", MAPS, config_map("count", n="0"))[0] == 201

    def count(_):
        session, first = rough.session(), True
        for _ in range(rounds):
            while True:
                _, now = session.request("GET", f"{MAPS}/count")
                if first:
                    all_have_read.wait()
                first = False
                now["data"]["n"] = str(int(now["data"]["n"]) + 1)
                code, answer = session.request("PUT", f"{MAPS}/count", now)
                if code == 200:
                    break
                assert code == 409 and answer["reason"] == "Conflict", answer
                conflicts.append(1)
    in_parallel(writers, count)
    assert rough.session().request("GET", f"{MAPS}/count")[1]["data"]["n"] == str(writers * rounds)
    assert len(conflicts) >= writers - 1


def test_patches_without_a_version_all_count(rough):
    writers, rounds = 8, 25
    assert rough.session().request("POST", MAPS, config_map("patched"))[0] == 201

    def patch(number):
        session = rough.session()
        for turn in range(rounds):
            code, answer = session.request("PATCH", f"{MAPS}/patched", {"data": {f"w{number}-{turn}": "x"}},
                                           "application/merge-patch+json")
            assert code == 200, answer
    in_parallel(writers, patch)
    assert len(rough.session().request("GET", f"{MAPS}/patched")[1]["data"]) == writers * rounds


def breaks_off(rough, number):
    """A connection that ends in the middle of something; what, the number says."""
    s = rough.tcp()
    if number % 6 == 0:
        return s.close()
    if number % 6 == 1:
        s.sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a handshake
        return s.close()
    if number % 6 == 2:
        s.sendall(b"GET / HTTP/1.1\r\nHost: krater\r\n\r\n")  # no TLS at all
        return s.close()
    s = rough.context.wrap_socket(s, server_hostname="127.0.0.1")
    if number % 6 == 3:
        s.sendall(b"POST " + MAPS.encode() + b" HTTP/1.1\r\nHost: kra")
    if number % 6 == 4:
        s.sendall(wire.head("POST", MAPS, config_map(f"half-{number}"), length=100_000))
    if number % 6 == 5:
        s.sendall(wire.head("GET", f"{MAPS}?watch=true"))
        s.recv(1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, no farewell
    s.close()


def test_connections_that_break_off_leave_nothing(simulated, rough):
    before = descriptors(simulated)
    in_parallel(12, lambda worker: [breaks_off(rough, worker + 12 * turn) for turn in range(25)])
    assert rough.session().request("GET", "/readyz")[0] == 200
    # Three hundred came and went; the store and the nodes open a few for themselves meanwhile.
    simulated.wait("the descriptors of broken connections are back", lambda: descriptors(simulated) <= before + 10)
    names = [one["metadata"]["name"] for one in rough.session().request("GET", MAPS)[1]["items"]]
    assert not [name for name in names if name.startswith("half-")]


def test_half_a_request_does_not_hold_its_connection_for_ever(simulated, rough):
    s = rough.tls()
    s.sendall(b"GET /api HTTP/1.1\r\nHost: krater\r\n")
    s.settimeout(60)
    began = time.monotonic()
    while s.recv(4096):
        pass
    assert 5 < time.monotonic() - began < 45


def test_watchers_that_do_not_read_hold_nobody_up(simulated, rough):
    """Twenty watchers stand still while 25 MB of news are written; one who reads is told of everything in order."""
    standing = []
    for _ in range(20):
        s = rough.tls(receive_buffer=4096)
        s.sendall(wire.head("GET", f"{MAPS}?watch=true&allowWatchBookmarks=true"))
        standing.append(s)
    reader = rough.tls()
    reader.sendall(wire.head("GET", f"{MAPS}?watch=true&resourceVersion=1"))
    before = resident_mib(simulated)
    padding = "x" * 100_000
    session, slowest = rough.session(), 0.0
    assert session.request("POST", MAPS, config_map("news"))[0] == 201
    for turn in range(250):
        began = time.monotonic()
        code, answer = session.request("PATCH", f"{MAPS}/news", {"data": {"turn": str(turn), "padding": padding}},
                                       "application/merge-patch+json")
        assert code == 200, answer
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 20
    grown = resident_mib(simulated) - before
    assert grown < 300, f"{grown} MiB more for 20 watchers that do not read"
    turns, text = [], reader.makefile("rb")
    while not turns or turns[-1] != 249:
        line = text.readline()
        assert line, f"the watch ended after {turns[-1:]}"
        if line.startswith(b"{"):
            event = json.loads(line)
            assert event["type"] in ("ADDED", "MODIFIED"), event
            if event["object"]["metadata"]["name"] == "news" and event["type"] == "MODIFIED":
                turns.append(int(event["object"]["data"]["turn"]))
    assert turns == list(range(250))
    for s in standing:
        s.close()
    session.request("DELETE", f"{MAPS}/news")


def test_more_connections_than_descriptors_do_no_harm(tmp_path, monkeypatch):
    """The store needs descriptors too: a flood of connections must not take the last ones."""
    few = tmp_path / "few"
    few.write_text(f'#!/bin/sh\nulimit -n 300\nexec {harness.BINARY} "$@"\n')
    few.chmod(0o755)
    monkeypatch.setattr(harness, "BINARY", str(few))
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1").start()
    try:
        rough = wire.Wire(cluster)
        session = rough.session()
        assert session.request("POST", MAPS, config_map("before"))[0] == 201
        flood = [rough.tcp() for _ in range(600)]
        for turn in range(100):
            code, answer = session.request("PATCH", f"{MAPS}/before", {"data": {"turn": f"{turn} " + "x" * 100_000}},
                                           "application/merge-patch+json")
            assert code == 200, answer
        assert descriptors(cluster) < 300
        for s in flood:
            s.close()
        cluster.wait("new connections are taken again", lambda: cluster.try_kubectl("get", "cm", "before")[0] == 0)
        assert session.request("GET", "/readyz")[0] == 200
    finally:
        cluster.stop()
