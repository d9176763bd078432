#include "api/webhook/hook_cache.h"

#include "model/webhook_kinds.h"

namespace krater::api {
namespace {
constexpr std::size_t kMostKnown = 256;
}

Result<std::vector<HookPtr>> HookCache::hooks(HookKind kind, const ObjectReader& reader) {
  const Kind& configurations = kind == HookKind::Mutating ? kinds::kMutatingWebhookConfiguration
                                                          : kinds::kValidatingWebhookConfiguration;
  TRY_ASSIGN(const std::vector<ObjectPtr> objects, reader.list(configurations, ""));
  std::vector<HookPtr> out;
  for (const ObjectPtr& object : objects) {
    std::vector<HookPtr> some = read(kind, *object);
    out.insert(out.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return out;
}

std::vector<HookPtr> HookCache::read(HookKind kind, const Object& configuration) {
  const std::string key = configuration.uid().text() + "/" + configuration.revision().text();
  {
    const std::lock_guard lock(mutex_);
    const auto place = known_.find(key);
    if (place != known_.end()) return place->second;
  }
  std::vector<HookPtr> made = hooks_of(kind, configuration);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[key] = made;
  return made;
}

}  // namespace krater::api
