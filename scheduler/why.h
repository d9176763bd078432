// Why a PodGroup waits, for programs: the facts behind its condition Unschedulable as JSON, which
// the annotation krater.io/why-pending holds for as long as it waits (docs/why-pending.md). Pure.
#pragma once

#include <string>
#include <string_view>

#include "scheduler/session.h"

namespace krater::scheduler {

inline constexpr std::string_view kWhyPending = "krater.io/why-pending";

// What keeps a job from starting, in one word. Texts change, these do not.
namespace codes {
inline constexpr std::string_view kQueueNotFound = "QueueNotFound";
inline constexpr std::string_view kQueueNotOpen = "QueueNotOpen";
inline constexpr std::string_view kQueueTree = "QueueTreeFlawed";
inline constexpr std::string_view kBehind = "BehindInQueue";   // strict order
inline constexpr std::string_view kQueueLimit = "QueueLimit";  // its queue, or one above, is full
inline constexpr std::string_view kQueueShare = "QueueShareUsed";  // its queue has what it deserves
inline constexpr std::string_view kClusterLimit = "ClusterLimit";  // overcommit
inline constexpr std::string_view kNamespaceQuota = "NamespaceQuota";
inline constexpr std::string_view kFairShare = "FairShareUsed";  // fairshare's gate
inline constexpr std::string_view kExtender = "Extender";
inline constexpr std::string_view kNotEnoughPods = "NotEnoughPods";
inline constexpr std::string_view kGated = "SchedulingGates";
inline constexpr std::string_view kNoNode = "NoNodeFits";
inline constexpr std::string_view kPromised = "WaitingForRoom";  // room was found, others leave it
inline constexpr std::string_view kOther = "Other";
}  // namespace codes

// Of a job that waits.
std::string_view why_code(const Session& session, JobId job);
std::string why_pending(const Session& session, JobId job);

}  // namespace krater::scheduler
