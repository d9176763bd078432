#include "controllers/loop/decided.h"

namespace krater::controllers {
namespace {

std::string begin_line(std::string_view controller, const ObjectKey& key) {
  return "controller=" + std::string(controller) + " object=" + key.text();
}

}  // namespace

std::string phase_of(const Object& object) {
  const auto document = object.document();
  const Json* state = find(*document, {"status", "state"});
  if (state != nullptr && state->is_string()) return std::string(view(state->get_string()));
  return state == nullptr ? text_at(*document, {"status", "phase"}) : text_at(*state, {"phase"});
}

std::string phase_line(std::string_view controller, const ObjectKey& key, std::string_view before,
                       std::string_view now) {
  std::string out = begin_line(controller, key) + " phase=" + std::string(now);
  if (!before.empty()) out += " before=" + std::string(before);
  return out;
}

std::string event_line(std::string_view controller, const ObjectKey& key, const EventNote& note) {
  std::string out = begin_line(controller, key) + " event=" + note.reason + " message=";
  append_json_string(out, note.message);  // one line, whatever is in it
  return out;
}

}  // namespace krater::controllers
