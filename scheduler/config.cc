#include "scheduler/config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/go_bool.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "scheduler/inner_arguments.h"

namespace krater::scheduler {
namespace {

// Volcano's flags, with its uneven prefixes.
constexpr std::array<std::string_view, 25> kFlags{"enableBestNode",
                                                  "enableHierarchy",
                                                  "enableJobEnqueued",
                                                  "enableJobOrder",
                                                  "enableJobPipelined",
                                                  "enableJobReady",
                                                  "enableJobStarving",
                                                  "enableNodeOrder",
                                                  "enablePredicate",
                                                  "enablePreemptable",
                                                  "enablePreemptive",
                                                  "enableQueueOrder",
                                                  "enableReclaimable",
                                                  "enableReservedNodes",
                                                  "enableTargetJob",
                                                  "enableTaskOrder",
                                                  "enabledAllocatable",
                                                  "enabledClusterOrder",
                                                  "enabledHyperNodeGradient",
                                                  "enabledHyperNodeOrder",
                                                  "enabledOverused",
                                                  "enabledSubJobOrder",
                                                  "enabledSubJobPipelined",
                                                  "enabledSubJobReady",
                                                  "enabledVictim"};
static_assert(std::is_sorted(kFlags.begin(), kFlags.end()));

constexpr std::array<std::string_view, 2> kOffUnlessSet{"enableHierarchy", "enabledClusterOrder"};

Error invalid(std::string message) {
  return make_error(Code::Invalid, std::move(message));
}
std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string_view key_of(const boost::json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

std::optional<bool> as_bool(const Json& value) {
  if (value.is_bool()) return value.get_bool();
  return value.is_string() ? parse_go_bool(view(value.get_string())) : std::nullopt;
}

// A number that can be reckoned with.
Result<std::int64_t> within_bounds(std::string_view key, std::int64_t number) {
  if (number >= -Arguments::kMostNumber && number <= Arguments::kMostNumber) return number;
  return invalid("argument " + quoted(key) + " must be between " +
                 std::to_string(-Arguments::kMostNumber) + " and " +
                 std::to_string(Arguments::kMostNumber));
}

Result<void> add_actions(const Json& root, Config& config) {
  const auto text = string_at(root, {"actions"});
  if (!text || trim(*text).empty()) return invalid("actions: a comma separated list is required");
  for (const std::string_view piece : split(*text, ',')) {
    const std::string_view name = trim(piece);
    const ActionEntry* action = find_action(name);
    if (action == nullptr) return invalid("actions: unknown action " + quoted(name));
    config.actions.push_back(action);
  }
  return {};
}

Result<PluginChoice> plugin_choice(const Json& entry, const std::string& where) {
  if (!entry.is_object()) return invalid(where + ": a plugin entry is a map");
  PluginChoice out;
  out.name = text_at(entry, {"name"});
  if (out.name.empty()) return invalid(where + ": name is required");
  const PluginEntry* plugin = find_plugin(out.name);
  if (plugin == nullptr) return invalid(where + ": unknown plugin " + quoted(out.name));
  const JsonObject* given = nullptr;
  for (const auto& member : entry.get_object()) {
    const std::string_view key = key_of(member);
    if (key == "name") continue;
    if (key == "arguments") {
      if (member.value().is_null()) continue;
      if (!member.value().is_object())
        return invalid(where + ": plugin " + out.name + ": arguments must be a map");
      given = &member.value().get_object();
      continue;
    }
    const auto on = as_bool(member.value());
    if (!EnableFlags::known(key))
      return invalid(where + ": plugin " + out.name + ": unknown key " + quoted(key));
    if (!on)
      return invalid(where + ": plugin " + out.name + ": " + std::string(key) +
                     " must be true or false");
    out.flags.set(std::string(key), *on);
  }
  Arguments arguments(given);
  Result<PluginFactory> factory = plugin->configure(arguments, out.flags);
  if (!factory) return invalid(where + ": plugin " + out.name + ": " + factory.error().message);
  if (const Result<void> known = arguments.check_all_known(); !known) {
    return invalid(where + ": plugin " + out.name + ": " + known.error().message);
  }
  out.make = *std::move(factory);
  return out;
}

Result<void> add_tiers(const Json& root, Config& config) {
  const JsonArray* tiers = array_at(root, {"tiers"});
  if (tiers == nullptr || tiers->empty()) return invalid("tiers: at least one tier is required");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < tiers->size(); ++i) {
    const std::string where = "tiers[" + std::to_string(i) + "]";
    const JsonArray* plugins = array_at((*tiers)[i], {"plugins"});
    if (plugins == nullptr) return invalid(where + ": plugins is required");
    std::vector<PluginChoice> tier;
    for (std::size_t k = 0; k < plugins->size(); ++k) {
      TRY_ASSIGN(PluginChoice choice,
                 plugin_choice((*plugins)[k], where + ".plugins[" + std::to_string(k) + "]"));
      if (!seen.insert(choice.name).second)
        return invalid(where + ": plugin " + quoted(choice.name) + " is listed twice");
      tier.push_back(std::move(choice));
    }
    config.tiers.push_back(std::move(tier));
  }
  if (seen.contains("capacity") && seen.contains("proportion")) {
    return invalid("tiers: plugins \"capacity\" and \"proportion\" exclude each other");
  }
  const PluginChoice* drf = config.plugin("drf");
  if (drf != nullptr && drf->flags.on("enableHierarchy") && seen.contains("proportion")) {
    return invalid(
        "tiers: plugin \"drf\" with enableHierarchy and plugin \"proportion\" exclude each other");
  }
  return {};
}

// How upstream bounds its search for nodes and shares answers: nothing here needs to be told.
Result<void> ignore_search(Arguments& arguments) {
  TRY(ignore_booleans(arguments, {"enableTopologyAwarePreemption", "predicateErrorCacheEnable"}));
  return ignore_integers(arguments,
                         {"maxCandidateNodesAbsolute", "minCandidateNodesAbsolute",
                          "minCandidateNodesPercentage", "topologyAwarePreemptWorkerNum"});
}

// Arguments of actions: known keys are taken, whatever they ask for holds here already.
Result<void> check_configurations(const Json& root, Config& config) {
  const Json* all = find(root, {"configurations"});
  if (all == nullptr || all->is_null()) return {};
  if (!all->is_array()) return invalid("configurations: a list is required");
  for (const Json& entry : all->get_array()) {
    if (!entry.is_object()) return invalid("configurations: an entry is a map");
    const std::string name = text_at(entry, {"name"});
    const ActionEntry* action = find_action(name);
    if (action == nullptr) return invalid("configurations: unknown action " + quoted(name));
    for (const auto& member : entry.get_object()) {
      if (key_of(member) != "name" && key_of(member) != "arguments")
        return invalid("configurations: action " + name + ": unknown key " +
                       quoted(key_of(member)));
    }
    const Json* arguments_of = find(entry, {"arguments"});
    if (arguments_of == nullptr || arguments_of->is_null()) continue;
    if (!arguments_of->is_object())
      return invalid("configurations: action " + name + ": arguments must be a map");
    const JsonObject* given = &arguments_of->get_object();
    for (const auto& member : *given) {
      if (std::find(action->arguments.begin(), action->arguments.end(), key_of(member)) ==
          action->arguments.end()) {
        return invalid("configurations: action " + name + ": unknown argument " +
                       quoted(key_of(member)));
      }
    }
    Arguments arguments(given);
    if (const Result<void> right = ignore_search(arguments); !right)
      return invalid("configurations: action " + name + ": " + right.error().message);
    if (name != "gangpreempt" && name != "gangreclaim") continue;
    GangEvictionRules& rules = config.gang_eviction[name];
    TRY_ASSIGN(rules.max_domains, arguments.integer("maxDomains", 8));
    TRY_ASSIGN(rules.whole_gangs, arguments.boolean("allowWholeBundle", true));
    TRY_ASSIGN(const std::string order, arguments.string("victimOrder", "safe-first"));
    if (order != "safe-first" && order != "priority-first") {
      return invalid("configurations: action " + name +
                     ": victimOrder must be safe-first or priority-first");
    }
    rules.priority_first = order == "priority-first";
    if (rules.max_domains < 1)
      return invalid("configurations: action " + name + ": maxDomains must be at least 1");
  }
  return {};
}

// What Volcano knows of where figures come from, whichever of them is read.
Result<void> check_metrics_keys(const JsonObject& given) {
  return read_map(&given, "metrics", [](Arguments& metrics) -> Result<void> {
    TRY(ignore_strings(metrics,
                       {"address", "elasticsearch.hostnameFieldName", "elasticsearch.index",
                        "elasticsearch.password", "elasticsearch.username", "type"}));
    TRY(ignore_booleans(metrics, {"tls.insecureSkipVerify"}));
    TRY_ASSIGN(const std::string interval, metrics.string("interval", "30s"));
    if (parse_go_duration(interval)) return {};
    return invalid("argument \"interval\" must be a time such as 30s");
  });
}

// Where `usage` and `rescheduling` have their figures from. Others do not look at them.
Result<void> check_metrics(const Json& root, const Config& config) {
  const Json* given = find(root, {"metrics"});
  if (given == nullptr || given->is_null()) return {};
  if (!given->is_object()) return invalid("metrics: a map is required");
  TRY(check_metrics_keys(given->get_object()));
  if (config.plugin("usage") == nullptr && config.plugin("rescheduling") == nullptr) return {};
  const std::string type = text_at(*given, {"type"});
  if (type.empty() || type == "node") return {};
  return invalid("metrics: source " + quoted(type) +
                 " is not read here: the figures are those that nodes report of themselves");
}

}  // namespace

bool EnableFlags::known(std::string_view name) {
  return std::binary_search(kFlags.begin(), kFlags.end(), name);
}

bool EnableFlags::on(std::string_view name) const {
  const auto place = given_.find(name);
  if (place != given_.end()) return place->second;
  return std::find(kOffUnlessSet.begin(), kOffUnlessSet.end(), name) == kOffUnlessSet.end();
}

const Json* Arguments::find(std::string_view key) {
  known_.emplace(key);
  return given_ == nullptr ? nullptr : given_->if_contains(key);
}

Result<std::int64_t> Arguments::integer(std::string_view key, std::int64_t fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_int64()) return within_bounds(key, value->get_int64());
  if (value->is_uint64()) return within_bounds(key, INT64_MAX);
  return invalid("argument " + quoted(key) + " must be an integer");
}

Result<std::int64_t> Arguments::count(std::string_view key, std::int64_t fallback) {
  const Json* value = find(key);
  if (value == nullptr || !value->is_string()) return integer(key, fallback);
  if (const auto number = parse_int(trim(view(value->get_string()))))
    return within_bounds(key, *number);
  return invalid("argument " + quoted(key) + " must be an integer");
}

Result<bool> Arguments::boolean(std::string_view key, bool fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (const auto on = as_bool(*value)) return *on;
  return invalid("argument " + quoted(key) + " must be true or false");
}

Result<std::string> Arguments::string(std::string_view key, std::string fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return std::string(view(value->get_string()));
  return invalid("argument " + quoted(key) + " must be a string");
}

Result<std::int64_t> Arguments::per_mille(std::string_view key, std::int64_t fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  std::int64_t whole = INT64_MAX;  // of what is too large to be read
  if (value->is_int64()) whole = value->get_int64();
  // The only floating number in the scheduler: it is read here and is an integer from then on.
  const bool fraction = value->is_double();
  if (fraction && std::abs(value->get_double()) <= static_cast<double>(kMostNumber))
    return static_cast<std::int64_t>(std::llround(value->get_double() * 1000));
  if (fraction || value->is_int64() || value->is_uint64()) {
    TRY_ASSIGN(whole, within_bounds(key, whole));
    return whole * 1000;
  }
  return invalid("argument " + quoted(key) + " must be a number");
}

Result<const JsonObject*> Arguments::object(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr || value->is_null()) return nullptr;
  if (value->is_object()) return &value->get_object();
  return invalid("argument " + quoted(key) + " must be a map");
}

Result<const JsonArray*> Arguments::list(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr || value->is_null()) return nullptr;
  if (value->is_array()) return &value->get_array();
  return invalid("argument " + quoted(key) + " must be a list");
}

Result<std::map<std::string, std::string>> Arguments::strings_after(std::string_view prefix) {
  std::map<std::string, std::string> out;
  if (given_ == nullptr) return out;
  for (const auto& member : *given_) {
    const std::string_view key = key_of(member);
    if (!key.starts_with(prefix)) continue;
    TRY_ASSIGN(out[std::string(key.substr(prefix.size()))], string(key, ""));
  }
  return out;
}

Result<void> Arguments::check_all_known() const {
  if (given_ == nullptr) return {};
  for (const auto& member : *given_) {
    if (!known_.contains(key_of(member)))
      return invalid("unknown argument " + quoted(key_of(member)));
  }
  return {};
}

bool Config::has_action(std::string_view name) const {
  return std::any_of(actions.begin(), actions.end(),
                     [&](const ActionEntry* one) { return one->name == name; });
}

const PluginChoice* Config::plugin(std::string_view name) const {
  for (const std::vector<PluginChoice>& tier : tiers) {
    for (const PluginChoice& choice : tier) {
      if (choice.name == name) return &choice;
    }
  }
  return nullptr;
}

Result<Config> parse_config(std::string_view yaml) {
  TRY_ASSIGN(const Json root, parse_yaml(yaml));
  if (!root.is_object()) return invalid("the configuration is not a map");
  constexpr std::array<std::string_view, 5> kKeys{"actions", "tiers", "configurations", "metrics",
                                                  "behaviors"};
  for (const auto& member : root.get_object()) {
    if (std::find(kKeys.begin(), kKeys.end(), key_of(member)) == kKeys.end()) {
      return invalid("unknown key " + quoted(key_of(member)));
    }
  }
  Config out;
  TRY(add_actions(root, out));
  TRY(add_tiers(root, out));
  TRY(check_configurations(root, out));
  TRY(check_metrics(root, out));
  TRY_ASSIGN(out.behaviors, read_behaviors(find(root, {"behaviors"})));
  return out;
}

std::string_view default_config_text() {
  return R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)";
}

}  // namespace krater::scheduler
