#include "scheduler/fairshare_state.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json.h"

namespace krater::scheduler {
namespace {

constexpr Wide kMost = Decay::kMostUsage / Decay::kSecond;

Error invalid(const std::string& what) {
  return make_error(Code::Invalid, what);
}

Result<Wide> amount(const Json& given, const std::string& where) {
  if (const auto* n = given.if_int64(); n != nullptr && *n >= 0) return static_cast<Wide>(*n);
  if (const auto* n = given.if_uint64()) return Wide{*n};
  // What has too many digits for an integer, or a fraction.
  const auto* n = given.if_double();
  if (n == nullptr || !(*n >= 0)) return invalid(where + " must be a number, not below zero");
  return *n >= static_cast<double>(kMost) ? kMost : static_cast<Wide>(*n);
}

Json amount_json(Wide amount) {
  if (amount <= static_cast<Wide>(INT64_MAX)) return Json(static_cast<std::int64_t>(amount));
  return Json(static_cast<double>(amount));
}

}  // namespace

std::string to_text(const FairshareState& state) {
  struct Line {
    Wide amount;
    const std::string *queue, *user;
  };
  std::vector<Line> lines;
  for (const auto& [queue, users] : state.queues) {
    for (const auto& [user, whole] : users) lines.push_back({whole, &queue, &user});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.amount > b.amount; });
  JsonObject queues, measures;
  std::size_t size = 0;
  for (const Line& line : lines) {
    // Quotes, digits; a name may double when it is escaped.
    size += 2 * line.user->size() + 32;
    if (!queues.contains(*line.queue)) size += 2 * line.queue->size() + 512;
    if (size > kMostStateText) break;
    Json& users = queues[*line.queue];
    if (!users.is_object()) users = JsonObject();
    users.get_object()[*line.user] = amount_json(line.amount);
    const auto measure = state.measures.find(*line.queue);
    if (measure != state.measures.end()) measures[*line.queue] = measure->second;
  }
  JsonObject out;
  out["lastCycle"] = to_rfc3339_micro(state.at);
  out["measures"] = std::move(measures);
  out["queues"] = std::move(queues);
  return to_json(Json(std::move(out)));
}

Result<FairshareState> parse_fairshare_state(std::string_view text) {
  TRY_ASSIGN(const Json root, parse_json(text));
  if (!root.is_object()) return invalid("it is not an object");
  FairshareState out;
  const auto at = parse_rfc3339(text_at(root, {"lastCycle"}));
  if (!at) return invalid("lastCycle must be a time such as 2026-04-07T12:00:00Z");
  out.at = *at;
  const Json* queues = find(root, {"queues"});
  if (queues != nullptr && !queues->is_null()) {
    if (!queues->is_object()) return invalid("queues must be a map");
    for (const auto& queue : queues->get_object()) {
      const std::string name(queue.key().data(), queue.key().size());
      if (queue.value().is_null()) continue;
      if (!queue.value().is_object()) return invalid("queues." + name + " must be a map");
      for (const auto& user : queue.value().get_object()) {
        const std::string who(user.key().data(), user.key().size());
        TRY_ASSIGN(out.queues[name][who], amount(user.value(), "queues." + name + "." + who));
      }
    }
  }
  if (const Json* measures = find(root, {"measures"}); measures != nullptr) {
    if (!measures->is_object()) return invalid("measures must be a map");
    for (const auto& one : measures->get_object()) {
      if (!one.value().is_string()) return invalid("measures must be a map of names");
      out.measures.emplace(std::string(one.key().data(), one.key().size()),
                           std::string(one.value().get_string()));
    }
  }
  return out;
}

}  // namespace krater::scheduler
