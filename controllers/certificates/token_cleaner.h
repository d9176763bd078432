// Removes bootstrap tokens (Secrets of kube-system) when their time is over.
#pragma once

#include <memory>
#include <optional>

#include "controllers/loop/plan.h"

namespace krater::controllers {

// Nothing: it is no bootstrap token, or one without an end. A time that cannot be read is over.
std::optional<WallTime> token_ends(const Object& secret);
std::unique_ptr<Reconciler> make_token_cleaner();

}  // namespace krater::controllers
