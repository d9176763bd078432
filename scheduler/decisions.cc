#include "scheduler/decisions.h"

#include "base/json.h"

namespace krater::scheduler {
namespace {

void add(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!out.empty()) out += ' ';
  out += name;
  out += '=';
  out += value;
}

}  // namespace

std::string to_line(const Decision& decision) {
  std::string out;
  add(out, "action", decision.action);
  add(out, "verdict", decision.verdict);
  add(out, "queue", decision.queue);
  add(out, "job", decision.job);
  add(out, "pods", decision.pods);
  add(out, "for", decision.target);
  add(out, "asks", decision.asks);
  if (decision.reason.empty()) return out;
  std::string quoted;
  append_json_string(quoted, decision.reason);  // one line, whatever is in it
  add(out, "reason", quoted);
  return out;
}

}  // namespace krater::scheduler
