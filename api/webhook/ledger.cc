#include "api/webhook/ledger.h"

namespace krater::api {
namespace {
// At once, of one request: a transaction may hold a thousand writes.
constexpr std::size_t kMostOpen = 64;
}  // namespace

const HookVerdict* HookLedger::ask(HookPtr hook, std::string request, std::string_view operation) {
  Key key{hook->id, std::move(request)};
  const auto known = known_.find(key);
  if (known != known_.end()) return &known->second;
  waiting_ = true;
  if (open_.size() < kMostOpen && open_.find(key) == open_.end()) {
    HookQuestion question{std::move(hook), key.second, std::string(operation)};
    open_.emplace(std::move(key), std::move(question));
  }
  return nullptr;
}

std::vector<HookQuestion> HookLedger::take_open() {
  std::vector<HookQuestion> out;
  for (auto& entry : open_) out.push_back(std::move(entry.second));
  open_.clear();
  waiting_ = false;
  return out;
}

void HookLedger::enter(const HookQuestion& question, HookVerdict verdict) {
  known_.insert_or_assign(Key{question.hook->id, question.request}, std::move(verdict));
}

}  // namespace krater::api
