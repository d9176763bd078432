import contextlib

import pytest
from webhook_server import WebhookServer


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    server = WebhookServer(tmp_path_factory.mktemp("webhook"), "hook.default.svc")
    yield server
    server.stop()


@pytest.fixture
def installed(simulated):
    """Installs configurations for one story."""
    with contextlib.ExitStack() as stack:
        def install(manifest):
            simulated.apply(manifest)
            stack.callback(simulated.kubectl, "delete", manifest["kind"].lower(), manifest["metadata"]["name"],
                           "--ignore-not-found")
        yield install
