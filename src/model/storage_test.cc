// Which volume fits which claim.
#include "model/storage.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace krater {
namespace {

ObjectPtr make(const Kind& kind, const std::string& name, const std::string& json) {
  Result<Json> parsed = parse_json(json);
  CHECK_MSG(parsed.has_value(), json);
  Json object = *std::move(parsed);
  set_path(object, {"apiVersion"}, Json(kind.api_version()));
  set_path(object, {"kind"}, Json(kind.kind));
  set_path(object, {"metadata", "name"}, Json(name));
  if (kind.namespaced) set_path(object, {"metadata", "namespace"}, Json("d"));
  const auto made = Object::parse(ObjectKey::of(kind, "d", name), Revision(1),
                                  std::make_shared<const std::string>(to_json(object)));
  CHECK(made.has_value());
  return *made;
}

PersistentVolumeView volume(const std::string& name, const std::string& size,
                            const std::string& more = "") {
  return PersistentVolumeView(make(
      kinds::kPersistentVolume, name,
      R"({"spec":{"capacity":{"storage":")" + size +
          R"("},"accessModes":["ReadWriteOnce","ReadOnlyMany"],"storageClassName":"c","volumeMode":"Filesystem")" +
          more + R"(},"status":{"phase":"Available"}})"));
}

PersistentVolumeClaimView claim(const std::string& size, const std::string& more = "") {
  return PersistentVolumeClaimView(make(
      kinds::kPersistentVolumeClaim, "x",
      R"({"metadata":{"uid":"u1"},"spec":{"resources":{"requests":{"storage":")" + size +
          R"("}},"accessModes":["ReadWriteOnce"],"storageClassName":"c","volumeMode":"Filesystem")" +
          more + "}}"));
}

TEST(Volumes, FitByClassSizeModesAndLabels) {
  const auto one = volume("v", "5Gi");
  EXPECT_TRUE(fits(one, claim("5Gi")));
  EXPECT_FALSE(fits(one, claim("5.1Gi")));
  EXPECT_FALSE(fits(one, claim("1Gi", R"(,"selector":{"matchLabels":{"a":"b"}})")));
  const auto of = [](const std::string& spec) {
    return PersistentVolumeClaimView(
        make(kinds::kPersistentVolumeClaim, "x",
             R"({"spec":{"resources":{"requests":{"storage":"1"}},)" + spec + "}}"));
  };
  EXPECT_TRUE(fits(one, of(R"("accessModes":["ReadOnlyMany"],"storageClassName":"c")")));
  EXPECT_FALSE(fits(one, of(R"("accessModes":["ReadWriteMany"],"storageClassName":"c")")));
  EXPECT_FALSE(fits(one, of(R"("accessModes":["ReadOnlyMany"],"storageClassName":"")")));
  EXPECT_FALSE(fits(
      one, of(R"("accessModes":["ReadOnlyMany"],"storageClassName":"c","volumeMode":"Block")")));
}

TEST(Volumes, TheSmallestThatFitsIsChosenAndAReservedOneBeforeAll) {
  std::vector<PersistentVolumeView> all{volume("big", "9Gi"), volume("b", "3Gi"),
                                        volume("a", "3Gi"), volume("tiny", "1Gi")};
  EXPECT_EQ((*choose_volume(all, claim("2Gi"), nullptr))->name(), "a");
  EXPECT_EQ(choose_volume(all, claim("10Gi"), nullptr), nullptr);
  all.push_back(volume("kept", "20Gi", R"(,"claimRef":{"namespace":"d","name":"x"})"));
  EXPECT_EQ((*choose_volume(all, claim("2Gi"), nullptr))->name(), "kept");
  all.back() = volume("kept", "20Gi", R"(,"claimRef":{"namespace":"d","name":"x","uid":"other"})");
  EXPECT_EQ((*choose_volume(all, claim("2Gi"), nullptr))->name(), "a");
}

TEST(Volumes, OnANodeOnlyThoseThatItReaches) {
  const std::string here =
      R"(,"local":{"path":"/d"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":["n2"]}]}]}})";
  const std::vector<PersistentVolumeView> all{volume("local", "1Gi", here)};
  const std::string n1 = "n1", n2 = "n2";
  const Labels at_n1{{"kubernetes.io/hostname", "n1"}}, at_n2{{"kubernetes.io/hostname", "n2"}};
  const NodePlace first{n1, at_n1}, second{n2, at_n2};
  EXPECT_EQ(choose_volume(all, claim("1Gi"), &first), nullptr);
  ASSERT_NE(choose_volume(all, claim("1Gi"), &second), nullptr);
  EXPECT_EQ(all[0].node_path(), "/d");
}

TEST(StorageClasses, TheNewestDefaultIsTheDefault) {
  const auto one = [](const std::string& name, const std::string& made, bool is_default) {
    return make(kinds::kStorageClass, name,
                R"({"metadata":{"creationTimestamp":")" + made +
                    R"(","annotations":{"storageclass.kubernetes.io/is-default-class":")" +
                    (is_default ? "true" : "false") + R"("}},"provisioner":"p"})");
  };
  const auto old = one("old", "2024-01-01T00:00:00Z", true);
  const auto fresh = one("fresh", "2025-01-01T00:00:00Z", true);
  const auto none = one("none", "2026-01-01T00:00:00Z", false);
  EXPECT_EQ(default_class({old, fresh, none})->name(), "fresh");
  EXPECT_EQ(default_class({none}), nullptr);
}

TEST(StorageClasses, AllowedTopologiesAreAlternatives) {
  const StorageClassView of(make(
      kinds::kStorageClass, "c",
      R"({"provisioner":"p","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]}]})"));
  EXPECT_TRUE(of.allows({{"zone", "b"}}));
  EXPECT_FALSE(of.allows({{"zone", "c"}}));
  EXPECT_FALSE(of.allows({}));
}

TEST(PodClaims, NamedAndEphemeral) {
  const Result<Json> pod = parse_json(
      R"({"metadata":{"name":"p"},"spec":{"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"x"}},{"name":"b","emptyDir":{}},{"name":"c","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]}})");
  const std::vector<PodClaim> wanted{{"a", "x", false}, {"c", "p-c", true}};
  EXPECT_EQ(pod_claims(*pod), wanted);
}

}  // namespace
}  // namespace krater
