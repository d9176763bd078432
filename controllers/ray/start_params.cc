#include "controllers/ray/start_params.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/quantity.h"
#include "base/strings.h"

namespace krater::controllers {
namespace {

// A quantity of the Ray container's resources, nullptr-like when absent or unreadable.
std::optional<Quantity> amount(const Json& container, std::string_view list,
                               std::string_view name) {
  const auto text = string_at(container, {"resources", list, name});
  if (text) {
    const auto parsed = Quantity::parse(*text);
    return parsed ? std::optional(*parsed) : std::nullopt;
  }
  if (const auto number = int_at(container, {"resources", list, name}))
    return Quantity::from_value(*number);
  return std::nullopt;
}

Labels limits_of(const Json& container) {
  Labels out;
  const JsonObject* limits = object_at(container, {"resources", "limits"});
  if (limits == nullptr) return out;
  for (const auto& entry : *limits) {
    if (const auto quantity = amount(container, "limits", entry.key())) {
      out[std::string(entry.key())] = std::to_string(quantity->value());
    }
  }
  return out;
}

// Ray counts in floats. A canonical text is digits and one suffix.
double approximate(const Quantity& amount) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kDecimal{
      {{"n", "e-9"},
       {"u", "e-6"},
       {"m", "e-3"},
       {"k", "e3"},
       {"M", "e6"},
       {"G", "e9"},
       {"T", "e12"},
       {"P", "e15"},
       {"E", "e18"}}};
  std::string text = amount.text();
  for (const auto& [suffix, exponent] : kDecimal) {
    if (text.ends_with(suffix)) text.replace(text.size() - 1, 1, exponent);
  }
  double out = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  constexpr std::string_view kBinary = "KMGTPE";
  if (read.ptr != end) out = std::ldexp(out, 10 * static_cast<int>(kBinary.find(*read.ptr) + 1));
  return out;
}

std::string quoted_json(const JsonObject& object) {
  return "'" + to_json(object) + "'";
}

// `resources` of the group: quantities that Ray knows by own flags, the rest as custom resources.
void add_structured_resources(const RayGroupSpec& group, Labels& params) {
  JsonObject custom;
  for (const auto& [name, text] : group.structured_resources()) {
    const auto quantity = Quantity::parse(text);
    if (!quantity) continue;
    const std::string lower = to_lower(name);
    if (lower == "cpu") {
      params["num-cpus"] = std::to_string(quantity->value());
    } else if (lower == "memory") {
      params["memory"] = std::to_string(quantity->value());
    } else if (is_gpu_resource(lower)) {
      params["num-gpus"] = std::to_string(quantity->value());
    } else {
      custom[name] = approximate(*quantity);
    }
  }
  if (!custom.empty()) params["resources"] = quoted_json(custom);
}

void add_structured_labels(const RayGroupSpec& group, Labels& params) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : group.structured_labels()) pairs.push_back(name + "=" + value);
  if (!pairs.empty()) params["labels"] = join(pairs, ",");
}

void add_accelerators(const Labels& limits, Labels& params) {
  if (!params.contains("num-gpus")) {
    for (const auto& [name, value] : limits) {
      if (!is_gpu_resource(name) || value == "0") continue;
      params["num-gpus"] = value;
      break;
    }
  }
  if (params.contains("resources")) return;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kCustom{
      {{"aws.amazon.com/neuroncore", "neuron_cores"}, {"google.com/tpu", "TPU"}}};
  for (const auto& [name, value] : limits) {
    for (const auto& [resource, ray_name] : kCustom) {
      if (name != resource || value == "0") continue;
      params["resources"] = quoted_json(JsonObject{{ray_name, *parse_int(value)}});
      return;
    }
  }
}

}  // namespace

bool is_gpu_resource(std::string_view name) {
  return name.ends_with("gpu") || name.starts_with("nvidia.com/mig-");
}

Labels complete_start_params(const RayGroupSpec& group, const std::string& gcs_address) {
  Labels params = group.start_params();
  add_structured_resources(group, params);
  add_structured_labels(group, params);
  if (group.is_head()) {
    params.emplace("dashboard-host", "0.0.0.0");
  } else {
    params.emplace("address", gcs_address);
  }
  params.emplace("metrics-export-port", kMetricsPort);
  params.emplace("dashboard-agent-listen-port", kAgentPort);
  params["block"] = "true";  // the container lives as long as Ray does

  const Json& container = group.ray_container();
  if (!params.contains("num-cpus")) {
    auto cpu = amount(container, "limits", "cpu");
    if (!cpu || cpu->is_zero()) cpu = amount(container, "requests", "cpu");
    if (cpu && !cpu->is_zero()) params["num-cpus"] = std::to_string(cpu->value());
  }
  if (!params.contains("memory")) {
    const auto memory = amount(container, "limits", "memory");
    if (memory && !memory->is_zero()) params["memory"] = std::to_string(memory->value());
  }
  add_accelerators(limits_of(container), params);
  return params;
}

std::string start_command(bool head, const Labels& params) {
  // Here the words true and false are values, not switches.
  static constexpr std::array<std::string_view, 3> kAlwaysValue{"include-dashboard",
                                                                "include-log-monitor", "log-color"};
  std::string out = head ? "ray start --head " : "ray start ";
  for (const auto& [key, value] : params) {
    const std::string lower = to_lower(value);
    const bool is_switch = (lower == "true" || lower == "false") &&
                           std::ranges::find(kAlwaysValue, key) == kAlwaysValue.end();
    if (is_switch && lower == "false") continue;
    out += " --" + key + (is_switch ? "" : "=" + value) + " ";
  }
  return out;
}

std::string gcs_port(const RayClusterSpec& spec) {
  const Labels params = spec.head().start_params();
  const auto port = params.find("port");
  return port == params.end() ? std::string(kGcsPort) : port->second;
}

}  // namespace krater::controllers
