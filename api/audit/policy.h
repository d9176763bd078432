// What of a request is written into the audit log: audit.k8s.io/v1 Policy, read from a file and
// asked once a request. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/auth/authorizer.h"
#include "api/auth/identity.h"
#include "base/result.h"

namespace krater::api::audit {

// Each level holds what the one before it does.
enum class Level : std::uint8_t { None, Metadata, Request, RequestResponse };
std::string_view level_name(Level level);

enum class Stage : std::uint8_t { RequestReceived, ResponseStarted, ResponseComplete, Panic };
std::string_view stage_name(Stage stage);

class Stages {
 public:
  void add(Stage stage) { bits_ = static_cast<std::uint8_t>(bits_ | bit(stage)); }
  void add(Stages other) { bits_ = static_cast<std::uint8_t>(bits_ | other.bits_); }
  bool has(Stage stage) const { return (bits_ & bit(stage)) != 0; }

 private:
  static unsigned bit(Stage stage) { return 1U << static_cast<unsigned>(stage); }
  std::uint8_t bits_ = 0;
};

// Resources of one API group. `resources`: "pods", "pods/log", "pods/*", "*/scale", "*"; empty for
// all of the group.
struct GroupResources {
  std::string group;
  std::vector<std::string> resources{}, names{};
};

// Empty lists match everything.
struct Rule {
  Level level = Level::None;
  std::vector<std::string> users{}, groups{}, verbs{}, namespaces{}, paths{};
  std::vector<GroupResources> resources{};
  Stages omit_stages{};
  std::optional<bool> omit_managed_fields{};
};

struct Policy {
  std::vector<Rule> rules{};
  Stages omit_stages{};
  bool omit_managed_fields = false;
};

// YAML or JSON. Code::Invalid with the field that is wrong; unknown fields are wrong too, for a
// policy that says less than its author meant is found out too late.
Result<Policy> parse_policy(std::string_view text);

struct Decision {
  Level level = Level::None;
  Stages omit_stages{};
  bool omit_managed_fields = false;
};
// The first rule that matches; Level::None when none does. `who` null: nobody has been recognised.
Decision decide(const Policy& policy, const Identity* who, const Attributes& what);

}  // namespace krater::api::audit
