// The only list of actions.
#include <algorithm>
#include <array>

#include "scheduler/actions/allocate.h"
#include "scheduler/actions/backfill.h"
#include "scheduler/actions/enqueue.h"
#include "scheduler/config.h"

namespace krater::scheduler {
namespace {

constexpr std::array kActions{ActionEntry{"allocate", allocate}, ActionEntry{"backfill", backfill},
                              ActionEntry{"enqueue", enqueue}};
static_assert(std::ranges::is_sorted(kActions, {}, &ActionEntry::name));

}  // namespace

const ActionEntry* find_action(std::string_view name) {
  const auto place = std::ranges::lower_bound(kActions, name, {}, &ActionEntry::name);
  return place != kActions.end() && place->name == name ? &*place : nullptr;
}

}  // namespace krater::scheduler
