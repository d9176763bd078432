#include "model/pod_overhead.h"

namespace krater {

Json with_overhead(const Json& pod_spec, const RuntimeClasses& classes) {
  Json out = pod_spec;
  const std::string name = text_at(pod_spec, {"runtimeClassName"});
  if (name.empty() || !classes || find(pod_spec, {"overhead"}) != nullptr) return out;
  const ObjectPtr found = classes(name);
  if (found == nullptr) return out;
  const auto document = found->document();
  if (const Json* fixed = find(*document, {"overhead", "podFixed"}))
    set_path(out, {"overhead"}, *fixed);
  return out;
}

}  // namespace krater
