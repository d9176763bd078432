"""kubectl in the background: what it prints, and what a `get -w` tells, from before the first write to the end of a story."""
import codecs
import json
import os
import subprocess
import threading
import time


class Talk:
    """A kubectl that runs beside the story. `watches`: it is awaited until the server has taken its watch."""

    def __init__(self, cluster, *arguments, watches=False, **environment):
        self.lock, self.text, self.remarks = threading.Lock(), "", ""
        self.watching = threading.Event()
        self.process = subprocess.Popen(
            ["kubectl", *arguments, *(["-v=6"] if watches else [])], env=dict(cluster.environment(), **environment),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.threads = [threading.Thread(target=read, daemon=True) for read in (self.listen, self.overhear)]
        for thread in self.threads:
            thread.start()
        if watches:
            try:
                cluster.wait("kubectl watches", self.watching.is_set)
            except BaseException:
                self.stop()
                raise

    def listen(self):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := os.read(self.process.stdout.fileno(), 1 << 16):
            text = decoder.decode(data)
            with self.lock:
                self.text += text
            self.heard(text)

    def heard(self, text):
        pass

    def overhear(self):
        for line in self.process.stderr:
            remark = line.decode(errors="replace")
            with self.lock:
                self.remarks += remark
            if "watch=true" in remark and "200 OK" in remark:
                self.watching.set()

    def said(self):
        with self.lock:
            return self.text

    def remarked(self):
        with self.lock:
            return self.remarks

    def end(self, timeout=60):
        """Waits for its own end; everything that it printed."""
        self.process.wait(timeout)
        for thread in self.threads:
            thread.join(10)
        return self.said()

    def stop(self):
        self.process.kill()
        self.end()


class Watch(Talk):
    def __init__(self, cluster, kind, namespace, *arguments):
        self.events, self.part = [], ""  # (time, type, object)
        super().__init__(cluster, "get", kind, "-n", namespace, "-w", "--output-watch-events", "-o", "json", *arguments, watches=True)

    def heard(self, text):
        self.part = (self.part + text).lstrip()
        while self.part.rstrip().endswith("}"):
            try:
                event, end = json.JSONDecoder().raw_decode(self.part)
            except json.JSONDecodeError:
                return
            self.part = self.part[end:].lstrip()
            with self.lock:
                self.events.append((time.time(), event["type"], event["object"]))

    def seen(self):
        with self.lock:
            return list(self.events)
