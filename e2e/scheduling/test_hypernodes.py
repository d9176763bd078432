"""HyperNodes that the labels of nodes tell of, and jobs in parts that each stay within one."""
import gangs
import vcjobs
from two_queues import CONFIG

NEAR = CONFIG.replace("{name: binpack}", "{name: binpack}, {name: network-topology-aware}")
DISCOVERY = """
networkTopologyDiscovery:
- source: label
  enabled: true
  config:
    networkTopologyTypes:
      racks:
      - nodeLabel: example.com/spine
      - nodeLabel: example.com/rack
      - nodeLabel: kubernetes.io/hostname
- source: ufm
  enabled: true
"""


def discover(cluster):
    """Four nodes in two racks of one spine; HyperNodes by the rack or spine they are."""
    for i, node in enumerate(sorted(gangs.node_names(cluster))):
        cluster.kubectl("label", "node", node, f"example.com/rack=r{i // 2}", "example.com/spine=s")
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "volcano-controller-configmap", "namespace": "volcano-system"},
                   "data": {"volcano-controller.conf": DISCOVERY}})

    def found():
        known = {}
        for one in cluster.get("hypernodes")["items"]:
            assert one["metadata"]["labels"]["volcano.sh/network-topology-source"] == "label", one
            tier = one["spec"]["tierName"]
            known[one["metadata"]["labels"][tier]] = one
        return known
    cluster.wait("racks and spine are there and counted", lambda: {
        name: one.get("status", {}).get("nodeCount") for name, one in found().items()} == {"r0": 2, "r1": 2, "s": 4})
    return found()


def rack_of(cluster, pod):
    return cluster.get("node", cluster.get("pod", pod)["spec"]["nodeName"])["metadata"]["labels"]["example.com/rack"]


def test_labels_make_tiers_and_what_is_not_discovered_here_is_said(tmp_path):
    with gangs.nodes(tmp_path, 4, 4) as cluster:
        known = discover(cluster)
        assert known["r0"]["spec"]["tier"] == 1 and known["s"]["spec"]["tier"] == 2, known
        names = sorted(member["selector"]["exactMatch"]["name"] for member in known["s"]["spec"]["members"])
        assert names == sorted([known["r0"]["metadata"]["name"], known["r1"]["metadata"]["name"]])
        table = cluster.kubectl("get", "hn")
        assert "TIERNAME" in table.splitlines()[0] and "example.com/spine" in table, table
        cluster.wait("the other source is named", lambda: any(
            e["reason"] == "InvalidNetworkTopologyDiscovery" and 'source "ufm" is not discovered here' in e["message"]
            for e in cluster.get("events", "-n", "volcano-system")["items"]))
        # Deleted by hand, it comes back; a rack without nodes goes.
        rack = known["r0"]["metadata"]["name"]
        cluster.kubectl("delete", "hypernode", rack)
        cluster.wait("it is made again", lambda: (cluster.get("hypernode", rack) or {}).get("status", {}).get("nodeCount") == 2)
        for node in sorted(gangs.node_names(cluster))[:2]:
            cluster.kubectl("label", "node", node, "example.com/rack-", "example.com/spine-")
        cluster.wait("the empty rack is gone", lambda: cluster.get("hypernode", rack) is None)
        cluster.wait("the spine has two nodes left", lambda: cluster.get("hypernode", known["s"]["metadata"]["name"])["status"]["nodeCount"] == 2)


def test_each_part_of_a_job_stays_within_one_rack(tmp_path):
    with gangs.nodes(tmp_path, 4, 4) as cluster:
        gangs.configure(cluster, NEAR)
        known = discover(cluster)
        part = {"totalPartitions": 2, "partitionSize": 3, "minPartitions": 1, "networkTopology": {"mode": "hard", "highestTierAllowed": 1}}
        # A rack has room for four of these pods, not for two parts of three.
        gangs.apply(cluster, vcjobs.job("parts", vcjobs.task("w", replicas=6, cpu="2", minAvailable=3, partitionPolicy=part), least=3,
                                        networkTopology={"mode": "hard", "highestTierAllowed": 2}))
        cluster.wait("both parts run", lambda: list(vcjobs.pods(cluster, "parts").values()) == ["Running"] * 6, timeout=60)
        racks = {}
        for pod in vcjobs.pods(cluster, "parts"):
            label = cluster.get("pod", pod)["metadata"]["labels"]["volcano.sh/partition-id"]
            racks.setdefault(label, set()).add(rack_of(cluster, pod))
        assert sorted(map(sorted, racks.values())) == [["r0"], ["r1"]], racks
        cluster.wait("its group says where it is", lambda: vcjobs.group(cluster, "parts")["metadata"]["annotations"][
            "volcano.sh/job-allocated-hypernode"] == known["s"]["metadata"]["name"])
        # A part that fits into no rack waits; it says so.
        wide = {"totalPartitions": 1, "partitionSize": 3, "minPartitions": 1, "networkTopology": {"mode": "hard", "highestTierAllowed": 1}}
        cluster.kubectl("delete", "vcjob", "parts")
        gangs.apply(cluster, vcjobs.job("wide", vcjobs.task("w", replicas=3, cpu="3", minAvailable=3, partitionPolicy=wide), least=3))
        cluster.wait("it says why it waits", lambda: any(
            c["type"] == "Unschedulable" and c["status"] == "True" and "In hyperNode " in c["message"]
            for c in vcjobs.group(cluster, "wide").get("status", {}).get("conditions", [])))
        assert "Running" not in vcjobs.pods(cluster, "wide").values(), cluster.dump()
