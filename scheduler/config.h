// Volcano's scheduler configuration (YAML), checked as a whole: a configuration that names
// something unknown is not used in part. Errors name the culprit.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "scheduler/behaviors.h"
#include "scheduler/plugin_set.h"

namespace krater::scheduler {

// The arguments of one plugin. Every reader names the key; a key that nobody has read is an error.
class Arguments {
 public:
  explicit Arguments(const JsonObject* given) : given_(given) {}

  // More than that, up or down, is no number that anybody means: it is refused, so that whoever
  // reckons with one need not fear for 64 bits.
  static constexpr std::int64_t kMostNumber = INT32_MAX;
  // Integers must be YAML integers; booleans may be strings; Code::Invalid otherwise.
  Result<std::int64_t> integer(std::string_view key, std::int64_t fallback);
  Result<bool> boolean(std::string_view key, bool fallback);
  Result<std::string> string(std::string_view key, std::string fallback);
  // An integer, or a string that is one.
  Result<std::int64_t> count(std::string_view key, std::int64_t fallback);
  // A number times 1000, rounded: 1.2 is 1200.
  Result<std::int64_t> per_mille(std::string_view key, std::int64_t fallback);
  // A map, or a list, or null when it is absent.
  Result<const JsonObject*> object(std::string_view key);
  Result<const JsonArray*> list(std::string_view key);
  // What follows `prefix` in the keys that begin with it, with their texts.
  Result<std::map<std::string, std::string>> strings_after(std::string_view prefix);
  // Known to Volcano, without meaning here.
  void ignore(std::string_view key) { known_.emplace(key); }
  Result<void> check_all_known() const;

 private:
  const Json* find(std::string_view key);

  const JsonObject* given_;  // null: none
  std::set<std::string, std::less<>> known_;
};

// Adds one fresh plugin to a session's set.
using PluginFactory = std::function<void(PluginSet&, const EnableFlags&)>;
struct PluginEntry {
  std::string_view name;
  Result<PluginFactory> (*configure)(Arguments& arguments, const EnableFlags& flags);
};
// The table of plugins/plugins.cc; nullptr when unknown.
const PluginEntry* find_plugin(std::string_view name);

struct ActionEntry {
  std::string_view name;
  void (*execute)(Session& session);
  std::span<const std::string_view> arguments;  // known by Volcano
};
// The table of actions/actions.cc; nullptr when unknown.
const ActionEntry* find_action(std::string_view name);

struct PluginChoice {
  std::string name;
  EnableFlags flags{};
  PluginFactory make{};
};

// Arguments of gangpreempt and gangreclaim.
struct GangEvictionRules {
  std::int64_t max_domains = 8;  // looked at for one gang
  bool whole_gangs = true;       // gangs may be evicted as a whole
  // Whoever ranks lowest goes first, though it be with his gang; else single pods that their gangs
  // can do without go before any whole gang.
  bool priority_first = false;
};

struct Config {
  std::vector<const ActionEntry*> actions{};
  std::vector<std::vector<PluginChoice>> tiers{};

  std::map<std::string, GangEvictionRules, std::less<>> gang_eviction{};  // by action
  Behaviors behaviors{};

  bool has_action(std::string_view name) const;
  const PluginChoice* plugin(std::string_view name) const;
};

// What is allowed but hardly meant; each names the pitfall and the way out.
std::vector<std::string> pitfalls(const Config& config);

Result<Config> parse_config(std::string_view yaml);
// The text that Volcano's Helm chart ships.
std::string_view default_config_text();

}  // namespace krater::scheduler
