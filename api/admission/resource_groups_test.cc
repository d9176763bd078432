// What pods are given by the resource group they belong to, and which configurations are refused.
#include "api/admission/resource_groups.h"

#include "api/admission/testing/admission_fixture.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

using testing::AdmissionTest;

constexpr std::string_view kGroups = R"(
resourceGroups:
- resourceGroup: management
  object:
    key: namespace
    value: [default]
  schedulerName: default-scheduler
  tolerations:
  - {key: mng, operator: Exists, effect: NoSchedule}
  - {key: slow, operator: Exists, effect: NoExecute, tolerationseconds: 30}
  labels: {volcano.sh/nodetype: management, zone: a}
  affinity: '{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}'
- resourceGroup: cpu
  object:
    key: annotation
    value: ["volcano.sh/resource-group: cpu", "team: numbers"]
  labels: {volcano.sh/nodetype: cpu}
- resourceGroup: gpu
  schedulerName: volcano
  labels: {volcano.sh/nodetype: gpu}
)";

class ResourceGroupsTest : public AdmissionTest {
 protected:
  ResourceGroupsTest() {
    settings.resource_groups = std::make_shared<ResourceGroupBook>(
        pods_, ConfigMapPlace{"volcano-system", "groups", "volcano-admission.conf"});
  }

  ObjectPtr config_map(std::string_view text, std::uint64_t revision) const {
    const ObjectKey key = ObjectKey::of(kinds::kConfigMap, "volcano-system", "groups");
    Json map = new_object(kinds::kConfigMap, "volcano-system", "groups");
    set_path(map, {"data", "volcano-admission.conf"}, Json(text));
    return *Object::parse(key, Revision(revision),
                          std::make_shared<const std::string>(to_json(map)));
  }
  void configure(std::string_view text) {
    reader.put(kinds::kConfigMap, "volcano-system", "groups",
               to_json(*config_map(text, 1)->document()));
  }
  // spec of a pod that is created now.
  Json spec_of(const std::string& annotations, const std::string& spec,
               std::string_view name_space = "other") {
    object = *parse_json(R"({"metadata":{"annotations":{)" + annotations + R"(}},"spec":{)" + spec +
                         "}}");
    Admission admission{Operation::Create,
                        kinds::kPod,
                        std::string(name_space),
                        "p",
                        "",
                        object,
                        nullptr,
                        reader,
                        settings,
                        rng,
                        WallTime(),
                        warnings};
    EXPECT_TRUE(mutate(admission));
    return *find(object, {"spec"});
  }
  std::string error_of(std::string_view text) const {
    const auto parsed = parse_resource_groups(text, *pods_);
    return parsed ? "" : parsed.error().message;
  }

  std::unique_ptr<SchemaSet> schemas_ = make_builtin_schemas();
  KindSchemaPtr pods_ = schemas_->find("", "v1", "pods");
};

TEST_F(ResourceGroupsTest, PodsOfANamespaceAreGivenWhatItsGroupSays) {
  configure(kGroups);
  const Json spec = spec_of("", R"("nodeSelector":{"disk":"ssd","zone":"b"},"schedulerName":"mine",
    "tolerations":[{"key":"own","operator":"Exists"}])",
                            "default");
  EXPECT_EQ(*find(spec, {"nodeSelector"}),
            *parse_json(R"({"disk":"ssd","zone":"a","volcano.sh/nodetype":"management"})"));
  EXPECT_EQ(text_at(spec, {"schedulerName"}), "mine");
  EXPECT_NE(find(spec, {"affinity", "podAntiAffinity"}), nullptr);
  // Behind those that every pod has.
  const JsonArray& tolerations = *array_at(spec, {"tolerations"});
  ASSERT_EQ(tolerations.size(), 5U);
  EXPECT_EQ(text_at(tolerations[0], {"key"}), "own");
  EXPECT_EQ(text_at(tolerations[3], {"key"}), "mng");
  EXPECT_EQ(int_at(tolerations[4], {"tolerationSeconds"}), 30);
}

TEST_F(ResourceGroupsTest, APodKeepsAnAffinityOfItsOwn) {
  configure(kGroups);
  const Json spec = spec_of("", R"("affinity":{"nodeAffinity":{}})", "default");
  EXPECT_EQ(*find(spec, {"affinity"}), *parse_json(R"({"nodeAffinity":{}})"));
}

TEST_F(ResourceGroupsTest, PodsAreFoundByAnyOfTheAnnotationsOrByTheNameOfTheGroup) {
  configure(kGroups);
  const auto type = [&](const std::string& annotations) {
    return text_at(spec_of(annotations, ""), {"nodeSelector", "volcano.sh/nodetype"});
  };
  EXPECT_EQ(type(R"("volcano.sh/resource-group":"cpu")"), "cpu");
  EXPECT_EQ(type(R"("team":"numbers")"), "cpu");
  EXPECT_EQ(type(R"("volcano.sh/resource-group":"gpu")"), "gpu");
  // The first that fits.
  EXPECT_EQ(type(R"("team":"numbers","volcano.sh/resource-group":"gpu")"), "cpu");
  EXPECT_EQ(type(R"("volcano.sh/resource-group":"management")"), "");
  EXPECT_EQ(type(""), "");
}

TEST_F(ResourceGroupsTest, PodsOfTheControlPlaneAreInNoGroup) {
  configure(
      "resourceGroups: [{resourceGroup: all, object: {key: namespace, value: [kube-system, "
      "volcano-system, other]}, labels: {a: b}}]");
  EXPECT_EQ(text_at(spec_of("", "", "other"), {"nodeSelector", "a"}), "b");
  EXPECT_EQ(text_at(spec_of("", "", "kube-system"), {"nodeSelector", "a"}), "");
  EXPECT_EQ(text_at(spec_of("", "", "volcano-system"), {"nodeSelector", "a"}), "");
}

TEST_F(ResourceGroupsTest, WhatIsWrongIsRefusedByItsPlace) {
  EXPECT_EQ(error_of("# resourceGroups: none yet\n"), "");
  EXPECT_EQ(error_of("resourceGroups: []"), "");
  EXPECT_EQ(error_of("resourceGroup: []"), "resourceGroup: unknown field");
  EXPECT_EQ(error_of("resourceGroups: {}"), "resourceGroups: must be a list");
  EXPECT_NE(error_of("resourceGroups: ["), "");
  const auto group = [&](const std::string& fields) {
    return error_of("resourceGroups: [{resourceGroup: a, " + fields + "}]");
  };
  EXPECT_EQ(group("lables: {a: b}"), "resourceGroups[0].lables: unknown field");
  EXPECT_EQ(group("object: {key: label, value: [x]}"),
            "resourceGroups[0].object.key: must be namespace or annotation, not \"label\"");
  EXPECT_EQ(group("object: {key: namespace, value: x}"),
            "resourceGroups[0].object.value: must be a list");
  EXPECT_EQ(group("object: {key: annotation, value: [cpu]}"),
            "resourceGroups[0].object.value[0]: must be \"KEY: VALUE\" of an annotation, not "
            "\"cpu\"");
  EXPECT_EQ(group("affinity: 'nodeAffinity: {}'"),
            "resourceGroups[0].affinity: must be an affinity as a JSON object in a string");
  EXPECT_EQ(group(R"(affinity: '{"nodeAfinity":{}}')"),
            "resourceGroups[0]: unknown field \"spec.affinity.nodeAfinity\"");
  EXPECT_NE(group("tolerations: [{key: a, operator: Perhaps}]"), "");
  EXPECT_NE(group("labels: {a: 'not a value'}"), "");
  EXPECT_EQ(error_of("resourceGroups: [{labels: {a: b}}]"),
            "resourceGroups[0].resourceGroup: must not be empty");
}

TEST_F(ResourceGroupsTest, TheLastGoodGroupsStayInForce) {
  ResourceGroupBook book(pods_, settings.resource_groups->place());
  EXPECT_EQ(book.read(nullptr), nullptr);
  const ObjectPtr good = config_map("resourceGroups: [{resourceGroup: a}]", 5);
  EXPECT_EQ(book.read(good)->size(), 1U);
  const ObjectPtr bad = config_map("resourceGroups: [{resourceGroup: a, lables: {}}]", 6);
  EXPECT_EQ(book.read(bad)->size(), 1U);
  EXPECT_EQ(book.look(bad).refused, "resourceGroups[0].lables: unknown field");
  // An older snapshot of somebody else's.
  EXPECT_EQ(book.look(good).refused, "resourceGroups[0].lables: unknown field");
  EXPECT_EQ(book.read(config_map("", 7))->size(), 0U);
  EXPECT_EQ(book.read(config_map("resourceGroups: [{resourceGroup: b}]", 8))->size(), 1U);
  EXPECT_EQ(book.look(nullptr).groups, 0U);
  EXPECT_EQ(book.read(config_map("resourceGroups: nonsense", 9))->size(), 0U);
  // Made anew, and seen by a pod before it was told that the one before is gone.
  const ObjectPtr anew = config_map("resourceGroups: [{resourceGroup: c}]", 10);
  EXPECT_EQ(book.read(anew)->size(), 1U);
  EXPECT_EQ(book.look(nullptr).groups, 0U);
  EXPECT_EQ(book.look(anew).groups, 1U);
}

}  // namespace
}  // namespace krater::api
