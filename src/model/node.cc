#include "model/node.h"

namespace krater {

std::vector<TimedTaint> NodeView::timed_taints() const {
  std::vector<TimedTaint> out;
  const JsonArray* list = array_at(document(), {"spec", "taints"});
  if (list == nullptr) return out;
  for (const Json& entry : *list) {
    TimedTaint taint{
        {text_at(entry, {"key"}), text_at(entry, {"value"}), text_at(entry, {"effect"})}, {}};
    if (const auto added = string_at(entry, {"timeAdded"})) taint.added = parse_rfc3339(*added);
    out.push_back(std::move(taint));
  }
  return out;
}

bool NodeView::ready() const {
  const auto found = condition("Ready");
  return found && found->is_true();
}

std::string NodeView::address(std::string_view type) const {
  const JsonArray* list = array_at(document(), {"status", "addresses"});
  if (list == nullptr) return {};
  for (const Json& entry : *list) {
    if (text_at(entry, {"type"}) == type) return text_at(entry, {"address"});
  }
  return {};
}

}  // namespace krater
