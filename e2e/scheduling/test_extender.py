"""Plugin extender: a server of the user's, over HTTP, has a say in where pods go."""
import http.server
import json
import threading

import gangs

CONFIG = """
actions: "enqueue, allocate"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins:
  - {name: predicates}
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:%d/extend
      extender.httpTimeout: %s
      extender.predicateVerb: predicate
      extender.jobEnqueueableVerb: enqueueable
      extender.ignorable: %s
"""


class Extender:
    """Says no to what `refuse` accepts; `silent`: takes the question and never answers."""

    def __init__(self):
        self.refuse, self.silent, self.asked, self.released = (lambda task, node: False), False, [], threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, question))
                if outer.silent:
                    outer.released.wait(20)
                    return
                answer = {"status": 1} if self.path.endswith("enqueueable") else {}
                if self.path.endswith("predicate") and outer.refuse(question["task"], question["node"]):
                    answer = {"status": "the licence server said no", "code": 2}
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))

    @property
    def port(self):
        return self.server.server_address[1]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def test_an_extender_chooses_nodes_and_is_told_whom_it_is_asked_about(tmp_path):
    with Extender() as extender, gangs.nodes(tmp_path, 3, 4) as cluster:
        nodes = sorted(gangs.node_names(cluster))
        extender.refuse = lambda task, node: node["Name"] != nodes[1]
        gangs.configure(cluster, CONFIG % (extender.port, "10s", "false"))
        gangs.apply(cluster, *gangs.gang("pair", 2, {"cpu": "1"}))
        gangs.wait_running(cluster, "pair-w-0", "pair-w-1")
        assert {cluster.get("pod", f"pair-w-{i}")["spec"]["nodeName"] for i in range(2)} == {nodes[1]}
        tasks = [question["task"] for path, question in extender.asked if path == "/extend/predicate"]
        assert {t["Name"] for t in tasks} == {"pair-w-0", "pair-w-1"} and tasks[0]["Pod"]["metadata"]["name"] == tasks[0]["Name"]
        assert any(path == "/extend/enqueueable" and question["job"]["UID"] == "default/pair" for path, question in extender.asked)
        extender.refuse = lambda task, node: True
        gangs.apply(cluster, *gangs.gang("late", 1, {"cpu": "1"}))
        gangs.wait_why(cluster, "late", "3 the licence server said no")
        # It changes its mind; nothing in the cluster does.
        extender.refuse = lambda task, node: False
        gangs.wait_running(cluster, "late-w-0")


def test_an_extender_that_hangs_stops_nobody_else(tmp_path):
    with Extender() as extender, gangs.nodes(tmp_path, 2, 4) as cluster:
        extender.silent = True
        gangs.configure(cluster, CONFIG % (extender.port, "500ms", "false"))
        gangs.apply(cluster, *gangs.gang("job", 1, {"cpu": "1"}))
        gangs.wait_why(cluster, "job", "the extender does not admit it")
        # One call a cycle is waited for, so that a new configuration is in force soon.
        gangs.configure(cluster, CONFIG % (extender.port, "500ms", "true"))
        gangs.wait_running(cluster, "job-w-0")
        cluster.wait("the log tells of it", lambda: "scheduler.extender.failed" in cluster.log.read_text())


def test_an_extender_that_is_not_there(tmp_path):
    with gangs.nodes(tmp_path, 2, 4) as cluster:
        gangs.configure(cluster, CONFIG % (gangs.harness.free_port(), "500ms", "false"))
        gangs.apply(cluster, *gangs.gang("job", 1, {"cpu": "1"}))
        gangs.wait_why(cluster, "job", "the extender does not admit it")
        error = "must be a URL"
        gangs.configure(cluster, (CONFIG % (1, "500ms", "false")).replace("http://127.0.0.1:1/extend", "extender.local"))
        cluster.wait("a URL that is none is refused", lambda: any(
            e["reason"] == "InvalidSchedulerConfiguration" and error in e["message"] for e in cluster.get("events", "-n", "volcano-system")["items"]))
