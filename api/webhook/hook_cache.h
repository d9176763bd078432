// The webhooks in force, in the order they are asked in: by the name of their configuration, then
// as it lists them. Configurations are read once a revision. Any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/admission/admission.h"
#include "api/webhook/hook.h"

namespace krater::api {

class HookCache {
 public:
  Result<std::vector<HookPtr>> hooks(HookKind kind, const ObjectReader& reader);

 private:
  std::vector<HookPtr> read(HookKind kind, const Object& configuration);

  std::mutex mutex_;
  std::unordered_map<std::string, std::vector<HookPtr>> known_;  // by uid and revision
};

}  // namespace krater::api
