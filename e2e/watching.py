"""`kubectl get -w` in the background: what happened and when, from before the first write to the end of a story."""
import json
import subprocess
import threading
import time


class Watch:
    def __init__(self, cluster, kind, namespace, *arguments):
        self.events, self.lock = [], threading.Lock()  # (time, type, object)
        self.process = subprocess.Popen(
            ["kubectl", "get", kind, "-n", namespace, "-w", "--output-watch-events", "-o", "json", *arguments],
            env=cluster.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        decoder, text = json.JSONDecoder(), ""
        for line in self.process.stdout:
            text += line
            if not line.rstrip().endswith("}"):  # one line an event, or many, by kubectl's version
                continue
            try:
                event, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                continue
            text = text[end:].lstrip()
            with self.lock:
                self.events.append((time.time(), event["type"], event["object"]))

    def seen(self):
        with self.lock:
            return list(self.events)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.thread.join(10)
