#include "scheduler/fairshare_book.h"

#include <algorithm>

namespace krater::scheduler {

bool FairshareBook::use(std::shared_ptr<const FairshareRules> rules) {
  const bool same =
      (rules == nullptr) == (rules_ == nullptr) && (rules == nullptr || *rules == *rules_);
  if (same) return false;
  if (decay_) {
    for (auto& [name, account] : accounts_) settle(account);
  }
  const auto before = std::exchange(rules_, std::move(rules));
  ++changes_;
  // What is held is told anew; what was used stays, where it is still asked for in the same
  // measure.
  entries_.clear();
  holding_ = 0;
  std::erase_if(accounts_, [&](const auto& one) {
    const QueueName& queue = one.second.queue;
    return !rules_ || !rules_->about(queue) || rules_->measure(queue) != before->measure(queue);
  });
  for (auto& [name, account] : accounts_) {
    account.jobs = 0;
    account.held = {};
    account.rate = 0;
  }
  decay_ = rules_ ? std::make_unique<Decay>(rules_->half_life) : nullptr;
  return true;
}

void FairshareBook::settle(Account& account) {
  account.usage = decay_->after(account.usage, account.rate, now_ - account.at);
  account.at = now_;
}

void FairshareBook::hold(Account& account, const Resource& amounts, int sign,
                         const ResourceNames& names) {
  settle(account);
  account.jobs += sign;
  sign > 0 ? account.held += amounts : account.held -= amounts;
  holding_ -= account.rate > 0 ? 1 : 0;
  account.rate = rules_->units(account.queue, account.held, names);
  holding_ += account.rate > 0 ? 1 : 0;
}

void FairshareBook::leave(const JobKey& key, const ResourceNames& names) {
  const auto place = entries_.find(key);
  if (place == entries_.end()) return;
  hold(*place->second.account, place->second.held, -1, names);
  entries_.erase(place);
  ++changes_;
}

// Objects come again and again with nothing new but their status; they are read once a version.
std::string FairshareBook::user_of(const Entry* before, const JobInfo& job,
                                   ObjectPtr& named_by) const {
  if (rules_->user_key.empty()) return job.key.name_space;
  named_by = job.group;
  if (named_by == nullptr && !job.tasks.empty()) named_by = job.tasks.front().spec->pod;
  if (named_by == nullptr) return job.key.name_space;
  if (before != nullptr && before->named_by == named_by) return before->user;
  return rules_->user_of(named_by);
}

void FairshareBook::set(const JobKey& key, const JobInfo* job, const ResourceNames& names) {
  if (!rules_) return;
  if (job == nullptr || !job->known || !rules_->about(job->queue)) return leave(key, names);
  const auto place = entries_.find(key);
  const Entry* before = place == entries_.end() ? nullptr : &place->second;
  Entry next;
  next.user = user_of(before, *job, next.named_by);
  if (before != nullptr && before->account->queue == job->queue && before->user == next.user &&
      before->held == job->allocated) {
    place->second.named_by = std::move(next.named_by);
    return;
  }
  leave(key, names);
  const auto [account, fresh] = accounts_.try_emplace(Name(job->queue, next.user));
  if (fresh) account->second = {job->queue, next.user, 0, {}, 0, 0, now_};
  next.account = &account->second;
  next.held = job->allocated;
  hold(*next.account, next.held, 1, names);
  entries_.emplace(key, std::move(next));
  ++changes_;
}

const FairshareBook::Account* FairshareBook::account_of(const JobKey& key) const {
  const auto place = entries_.find(key);
  return place == entries_.end() ? nullptr : place->second.account;
}

Wide FairshareBook::used(const Account& account, Duration from_now) const {
  return decay_->after(account.usage, account.rate, now_ + from_now - account.at) / Decay::kSecond;
}

std::vector<const FairshareBook::Account*> FairshareBook::accounts() const {
  std::vector<const Account*> out;
  for (const auto& [name, account] : accounts_) out.push_back(&account);
  return out;
}

void FairshareBook::sweep() {
  const std::size_t dropped = std::erase_if(
      accounts_, [this](const auto& one) { return one.second.jobs == 0 && used(one.second) == 0; });
  if (dropped > 0) ++changes_;
}

FairshareState FairshareBook::state(WallTime now) const {
  FairshareState out;
  out.at = now;
  for (const auto& [name, account] : accounts_) {
    const Wide whole = used(account);
    if (whole == 0) continue;
    out.queues[account.queue.text()][account.user] = whole;
    out.measures[account.queue.text()] = rules_->measure(account.queue);
  }
  return out;
}

void FairshareBook::load(const FairshareState& state, WallTime now) {
  if (!rules_) return;
  ++changes_;
  for (auto& [name, account] : accounts_) account.usage = 0, account.at = now_;
  // A file from the future says nothing of the time since.
  const Duration since = std::max(now - state.at, Duration(0));
  for (const auto& [queue_name, users] : state.queues) {
    const QueueName queue(queue_name);
    const auto measure = state.measures.find(queue_name);
    const bool other = measure != state.measures.end() && measure->second != rules_->measure(queue);
    if (!rules_->about(queue) || other) continue;
    for (const auto& [user, whole] : users) {
      const auto [place, fresh] = accounts_.try_emplace(Name(queue, user));
      Account& account = place->second;
      if (fresh) account = {queue, user};
      account.usage = whole * Decay::kSecond;
      account.at = now_ - since;
    }
  }
}

}  // namespace krater::scheduler
