// The usage that the plugin fairshare keeps over restarts, as text: the form of Volcano's own file,
//   {"lastCycle": "2026-04-07T12:00:00Z", "queues": {"gpu-queue": {"alice": 12345}}}
// and what was measured in each queue beside it ("measures"). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "scheduler/decay.h"

namespace krater::scheduler {

struct FairshareState {
  WallTime at{};                                                // as of then
  std::map<std::string, std::map<std::string, Wide>> queues{};  // queue, user: unit-seconds
  std::map<std::string, std::string> measures{};                // absent: whatever is counted now
};

// A ConfigMap takes a mebibyte; of more the largest are kept.
inline constexpr std::size_t kMostStateText = 768 * 1024;

std::string to_text(const FairshareState& state);
// Code::Invalid, with what is wrong in it. Amounts may have fractions, which are cut.
Result<FairshareState> parse_fairshare_state(std::string_view text);

}  // namespace krater::scheduler
