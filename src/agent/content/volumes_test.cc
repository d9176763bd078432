#include "agent/content/volumes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/content/disk_limits.h"
#include "agent/content/sandbox_files.h"
#include "agent/content/volume_writer.h"
#include "agent/shim/files.h"
#include "agent/testing/pods.h"
#include "model/storage.h"

namespace krater::agent {
namespace {

const NodeFacts kNode{"n1", "192.0.2.1", 4000, std::int64_t{8} << 30, std::int64_t{100} << 30};

Result<std::vector<Volume>> volumes(const std::string& list, const Sources& sources = {}) {
  const Json pod = testing::pod_json(R"({"containers":[],"volumes":)" + list + "}");
  return pod_volumes({pod, "10.88.0.5", "192.0.2.1", kNode}, sources, "/d");
}

ObjectPtr config_map(const std::string& data) {
  const std::string text = R"({"metadata":{"name":"c"},"data":)" + data + "}";
  return *Object::parse(ObjectKey::of(kinds::kConfigMap, "ns", "c"), Revision(1),
                        std::make_shared<const std::string>(text));
}

TEST(Volumes, AMemoryVolumeHasItsSizeLimit) {
  const Json pod = testing::pod_json(
      R"({"volumes":[{"name":"s","emptyDir":{"medium":"Memory","sizeLimit":"64Mi"}},{"name":"d","emptyDir":{}}]})");
  const std::vector<MemoryVolume> memory = memory_volumes(pod, "/d", 0);
  ASSERT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory[0].path, "/d/volumes/s");
  EXPECT_EQ(memory[0].bytes, 64 << 20);
}

TEST(Volumes, AMemoryVolumeIsNoLargerThanWhatThePodOrTheNodeHas) {
  const auto sizes = [](const std::string& containers) {
    const Json pod = testing::pod_json(
        R"({"volumes":[{"name":"a","emptyDir":{"medium":"Memory"}},{"name":"b","emptyDir":{"medium":"Memory","sizeLimit":"128Mi"}}],)" +
        containers + "}");
    std::vector<std::int64_t> out;
    for (const MemoryVolume& one : memory_volumes(pod, "/d", 1 << 30))
      out.push_back(one.bytes >> 20);
    return out;
  };
  using Mebibytes = std::vector<std::int64_t>;
  const auto limited = [](const std::string& name, const std::string& memory) {
    return R"({"name":")" + name + R"(","resources":{"limits":{"memory":")" + memory + R"("}}})";
  };
  EXPECT_EQ(sizes(R"("containers":[{"name":"c"}])"), (Mebibytes{1024, 128}));
  EXPECT_EQ(sizes(R"("containers":[)" + limited("c", "64Mi") + "]"), (Mebibytes{64, 64}));
  EXPECT_EQ(sizes(R"("containers":[)" + limited("c", "64Mi") + "," + limited("d", "32Mi") + "]"),
            (Mebibytes{96, 96}));
  EXPECT_EQ(sizes(R"("containers":[)" + limited("c", "64Mi") + R"(,{"name":"d"}])"),
            (Mebibytes{1024, 128}));
  EXPECT_EQ(sizes(R"("containers":[)" + limited("c", "4Gi") + "]"), (Mebibytes{1024, 128}));
  EXPECT_EQ(sizes(R"("initContainers":[)" + limited("i", "256Mi") + R"(],"containers":[)" +
                  limited("c", "64Mi") + "]"),
            (Mebibytes{256, 128}));
  EXPECT_EQ(sizes(R"("resources":{"limits":{"memory":"96Mi"}},"containers":[{"name":"c"}])"),
            (Mebibytes{96, 96}));
}

TEST(Volumes, ItemsChooseKeysPathsAndModes) {
  Sources sources;
  sources.config_maps["c"] = config_map(R"({"a":"1","b":"2"})");
  const auto all = volumes(R"([{"name":"v","configMap":{"name":"c"}}])", sources);
  EXPECT_EQ(all->at(0).files.size(), 2U);
  EXPECT_EQ(all->at(0).files[0].mode, 0644U);
  const auto some = volumes(
      R"([{"name":"v","configMap":{"name":"c","items":[{"key":"b","path":"x/y","mode":256}]}}])",
      sources);
  ASSERT_EQ(some->at(0).files.size(), 1U);
  EXPECT_EQ(some->at(0).files[0].path, "x/y");
  EXPECT_EQ(some->at(0).files[0].mode, 0400U);
}

TEST(Volumes, WhatIsMissingMayComeAndWhatLeadsOutIsRefused) {
  const auto absent = volumes(R"([{"name":"v","configMap":{"name":"c"}}])");
  EXPECT_EQ(absent.error().code, Code::Unavailable);
  EXPECT_EQ(absent.error().message,
            "MountVolume.SetUp failed for volume \"v\" : configmap \"c\" not found");
  EXPECT_TRUE(volumes(R"([{"name":"v","configMap":{"name":"c","optional":true}}])"));
  Sources sources;
  sources.config_maps["c"] = config_map(R"({"a":"1"})");
  EXPECT_EQ(
      volumes(R"([{"name":"v","configMap":{"name":"c","items":[{"key":"a","path":"../x"}]}}])",
              sources)
          .error()
          .code,
      Code::Invalid);
  EXPECT_EQ(volumes(R"([{"name":"v","nfs":{"server":"s","path":"/x"}}])").error().code,
            Code::Invalid);
}

ObjectPtr object(const Kind& kind, const std::string& name, const std::string& json) {
  Json made = *parse_json(json);
  set_path(made, {"metadata", "name"}, Json(name));
  return *Object::parse(ObjectKey::of(kind, "ns", name), Revision(1),
                        std::make_shared<const std::string>(to_json(made)));
}

// Claim "c" with volume "pv", which has these fields.
Sources with_claim(const std::string& volume, const std::string& phase = "Bound") {
  Sources out;
  out.claims["c"].claim = object(
      kinds::kPersistentVolumeClaim, "c",
      R"({"metadata":{"uid":"u","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"pv"},"status":{"phase":")" +
          phase + R"("}})");
  out.claims["c"].volume = object(kinds::kPersistentVolume, "pv", volume);
  return out;
}

constexpr const char* kUsesClaim =
    R"([{"name":"v","persistentVolumeClaim":{"claimName":"c","readOnly":true}}])";

TEST(Volumes, AClaimLiesWhereItsVolumeDoes) {
  const auto directory = volumes(
      kUsesClaim,
      with_claim(
          R"({"metadata":{"annotations":{"pv.kubernetes.io/provisioned-by":"krater.io/node-directory","krater.io/node":"n1"}},"spec":{"claimRef":{"uid":"u"},"hostPath":{"path":"/volumes/pv"}}})"));
  ASSERT_TRUE(directory.has_value()) << directory.error().message;
  EXPECT_EQ(directory->at(0).path, "/volumes/pv");
  EXPECT_EQ(directory->at(0).kind, Volume::Kind::Directory);
  EXPECT_TRUE(directory->at(0).read_only);
  const auto local = volumes(
      kUsesClaim, with_claim(R"({"spec":{"claimRef":{"uid":"u"},"local":{"path":"/disk"}}})"));
  ASSERT_TRUE(local.has_value()) << local.error().message;
  EXPECT_EQ(local->at(0).path, "/disk");
  EXPECT_EQ(local->at(0).host_path_type, "Directory");
}

TEST(Volumes, AClaimThatIsNotReadyKeepsThePodWaiting) {
  constexpr std::string_view kPrefix = "MountVolume.SetUp failed for volume \"v\" : ";
  const std::string good = R"({"spec":{"claimRef":{"uid":"u"},"local":{"path":"/disk"}}})";
  const auto why = [&](const Sources& sources) {
    const auto made = volumes(kUsesClaim, sources);
    EXPECT_FALSE(made.has_value());
    if (made) return std::string();
    EXPECT_EQ(made.error().message.substr(0, kPrefix.size()), kPrefix);
    return made.error().message.substr(kPrefix.size());
  };
  EXPECT_EQ(why({}), "persistentvolumeclaim \"c\" not found");
  EXPECT_EQ(why(with_claim(good, "Pending")), "PVC is not bound");
  EXPECT_EQ(why(with_claim(R"({"spec":{"claimRef":{"uid":"x"},"local":{"path":"/disk"}}})")),
            "persistentVolume pv is bound to another claim than c");
  EXPECT_EQ(
      why(with_claim(
          R"({"metadata":{"annotations":{"krater.io/node":"n2"}},"spec":{"claimRef":{"uid":"u"},"hostPath":{"path":"/x"}}})")),
      "the volume is on node n2, the pod on n1");
  EXPECT_NE(why(with_claim(R"({"spec":{"claimRef":{"uid":"u"},"nfs":{"server":"s","path":"/"}}})"))
                .find("only hostPath and local volumes are mounted"),
            std::string::npos);
}

TEST(Mounts, ParentsComeBeforeChildrenAndSubPathsStayInside) {
  const auto list = *volumes(R"([{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{}}])");
  const auto mounts = [&](const std::string& text) {
    return container_mounts(*parse_json(text), list,
                            [](std::string_view) { return std::string("expanded"); });
  };
  const std::vector<Mount> sorted = *mounts(
      R"({"volumeMounts":[{"name":"v","mountPath":"/a/b","subPath":"s"},{"name":"w","mountPath":"/a","readOnly":true}]})");
  ASSERT_EQ(sorted.size(), 2U);
  EXPECT_EQ(sorted[0].target, "/a");
  EXPECT_TRUE(sorted[0].read_only);
  EXPECT_EQ(sorted[1].source, "/d/volumes/v/s");
  const std::vector<Mount> expanded =
      *mounts(R"json({"volumeMounts":[{"name":"v","mountPath":"/a","subPathExpr":"$(X)"}]})json");
  EXPECT_EQ(expanded.at(0).source, "/d/volumes/v/expanded");
  EXPECT_FALSE(mounts(R"({"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../../etc"}]})"));
  EXPECT_FALSE(mounts(R"({"volumeMounts":[{"name":"none","mountPath":"/a"}]})"));
}

TEST(VolumeWriter, ReplacesAllFilesAtOnce) {
  char name[] = "/tmp/krater-volume-XXXXXX";
  const std::string directory = ::mkdtemp(name);
  Volume volume;
  volume.path = directory + "/v";
  volume.kind = Volume::Kind::Files;
  volume.files = {{"a", "1", 0644}, {"sub/b", "2", 0600}};
  ASSERT_TRUE(write_volume(volume, std::nullopt));
  EXPECT_EQ(read_file(volume.path + "/a").value(), "1");
  EXPECT_EQ(read_file(volume.path + "/sub/b").value(), "2");
  char before[256] = {}, same[256] = {}, after[256] = {};
  ASSERT_GT(::readlink((volume.path + "/..data").c_str(), before, 255), 0);
  ASSERT_TRUE(write_volume(volume, std::nullopt));
  ASSERT_GT(::readlink((volume.path + "/..data").c_str(), same, 255), 0);
  EXPECT_STREQ(before, same) << "nothing changed, so nothing is written";
  volume.files = {{"c", "3", 0644}};
  ASSERT_TRUE(write_volume(volume, std::nullopt));
  ASSERT_GT(::readlink((volume.path + "/..data").c_str(), after, 255), 0);
  EXPECT_STRNE(before, after);
  EXPECT_EQ(read_file(volume.path + "/c").value(), "3");
  EXPECT_NE(::access((volume.path + "/a").c_str(), F_OK), 0);
  EXPECT_NE(::access((volume.path + "/" + before).c_str(), F_OK), 0) << "the old set is gone";
  EXPECT_TRUE(remove_tree(directory));
}

TEST(DiskLimits, AContainerAndAPodAreHeldToTheirEphemeralStorage) {
  char name[] = "/tmp/krater-storage-XXXXXX";
  const std::string directory = ::mkdtemp(name);
  for (const char* place : {"/containers/a/upper", "/logs/a", "/volumes/v", "/volumes/m"})
    ASSERT_TRUE(make_directories(directory + place));
  const auto broken = [&](const std::string& a, const std::string& b) {
    return disk_limit_broken(
        testing::pod_spec(
            R"({"volumes":[{"name":"v","emptyDir":{}},{"name":"m","emptyDir":{"medium":"Memory"}}],"containers":[{"name":"a","resources":{"limits":{)" +
            a + R"(}}},{"name":"b","resources":{"limits":{)" + b + "}}}]}"),
        directory);
  };
  const std::string five = R"("ephemeral-storage":"5Mi")";
  const std::string ten = R"("ephemeral-storage":"10Mi")";
  const std::string mebibyte(1 << 20, 'x');
  ASSERT_TRUE(replace_file(directory + "/volumes/m/f", mebibyte + mebibyte + mebibyte + mebibyte));
  ASSERT_TRUE(replace_file(directory + "/containers/a/upper/f", mebibyte + mebibyte + mebibyte));
  EXPECT_EQ(broken(five, ten), "");
  ASSERT_TRUE(replace_file(directory + "/logs/a/0.log", mebibyte + mebibyte + mebibyte));
  EXPECT_EQ(broken("", ""), "");
  EXPECT_EQ(broken("", ten), "");
  EXPECT_EQ(broken(five, ten), "Container a exceeded its local ephemeral storage limit \"5Mi\". ");
  EXPECT_EQ(broken(five, ""),
            "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ");
  ASSERT_TRUE(replace_file(directory + "/volumes/v/f", std::string(9 << 20, 'x')));
  EXPECT_EQ(broken(ten, R"("ephemeral-storage":"1Mi")"),
            "Pod ephemeral local storage usage exceeds the total limit of containers 11Mi. ");
  EXPECT_TRUE(remove_tree(directory));
}

TEST(VolumeLimits, CountWhatADiskBackedVolumeHolds) {
  char name[] = "/tmp/krater-usage-XXXXXX";
  const std::string directory = ::mkdtemp(name);
  const Json pod = testing::pod_json(
      R"({"volumes":[{"name":"s","emptyDir":{"sizeLimit":"10Mi"}},{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}}]})");
  const std::vector<Volume> limited = limited_volumes(pod, directory);
  ASSERT_EQ(limited.size(), 1U);
  EXPECT_EQ(limited[0].size_limit, 10 << 20);
  ASSERT_TRUE(make_directories(limited[0].path + "/deep"));
  const std::int64_t before = disk_usage(limited[0].path);
  ASSERT_TRUE(replace_file(limited[0].path + "/deep/f", std::string(3 << 20, 'x')));
  const std::int64_t grown = disk_usage(limited[0].path) - before;
  EXPECT_GE(grown, 3 << 20);
  EXPECT_LT(grown, 4 << 20);
  EXPECT_TRUE(remove_tree(directory));
}

TEST(ResolvConf, FollowsTheDnsPolicy) {
  const DnsSettings dns{"10.88.0.1", "cluster.local",
                        "search corp.example\nnameserver 192.0.2.53\noptions edns0\n"};
  EXPECT_EQ(resolv_conf(testing::pod_spec(R"({"containers":[]})"), dns),
            "search ns.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver "
            "10.88.0.1\noptions ndots:5\n");
  const std::string host = "search corp.example\nnameserver 192.0.2.53\noptions edns0\n";
  EXPECT_EQ(resolv_conf(testing::pod_spec(R"({"dnsPolicy":"Default","containers":[]})"), dns),
            host);
  EXPECT_EQ(resolv_conf(testing::pod_spec(R"({"hostNetwork":true,"containers":[]})"), dns), host);
  EXPECT_EQ(
      resolv_conf(
          testing::pod_spec(
              R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"],"options":[{"name":"ndots","value":"2"}]},"containers":[]})"),
          dns),
      "nameserver 1.1.1.1\noptions ndots:2\n");
}

TEST(SandboxSpec, NamesThePod) {
  const SandboxSpec plain =
      sandbox_spec(testing::pod_spec(R"({"containers":[]})"), {}, NodeFacts{"n1", ""}, "/d");
  EXPECT_EQ(plain.hostname, "p");
  EXPECT_EQ(plain.fqdn, "");
  const SandboxSpec named = sandbox_spec(
      testing::pod_spec(
          R"({"hostname":"h","subdomain":"s","containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":8080}]}]})"),
      {}, NodeFacts{"n1", ""}, "/d");
  EXPECT_EQ(named.hostname, "h");
  EXPECT_EQ(named.fqdn, "h.s.ns.svc.cluster.local");
  ASSERT_EQ(named.ports.size(), 1U);
  EXPECT_EQ(named.ports[0].host_port, 8080);
}

}  // namespace
}  // namespace krater::agent
