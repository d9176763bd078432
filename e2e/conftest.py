import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("ray") and not os.path.exists(os.path.join(harness.RAY_VENV, "bin", "ray")):
            pytest.exit(f"no Ray in {harness.RAY_VENV}: run ./test.sh e2e, or set KRATER_RAY_VENV", returncode=3)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One process-runtime node, shared by a module's stories; each story uses names or namespaces of its own."""
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--stop-pods", images={"rayproject/ray*": harness.RAY_VENV})
    made.start()
    made.wait_nodes(1)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Ten simulated nodes of 4 CPU."""
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--runtime", "simulated", "--nodes", "10", "--cpu", "4",
                           "--memory", "16Gi")
    made.start()
    made.wait_nodes(10)
    yield made
    made.stop()


@pytest.fixture
def namespace(request):
    """A namespace of the story's own on whichever cluster it uses, with what controllers put into every one; gone afterwards."""
    cluster = request.getfixturevalue("simulated" if "simulated" in request.fixturenames else "cluster")
    name = "t-" + "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:50].strip("-")
    cluster.kubectl("create", "namespace", name)
    cluster.wait("it is furnished", lambda: cluster.try_kubectl("get", "sa/default", "cm/kube-root-ca.crt", "-n", name)[0] == 0)
    yield name
    cluster.kubectl("delete", "namespace", name, "--timeout=120s", timeout=150)
