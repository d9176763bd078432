#include "scheduler/node_board.h"

#include <algorithm>

#include "scheduler/session.h"

namespace krater::scheduler {

std::string FitError::text() const {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) parts.push_back(std::to_string(count) + " " + reason);
  std::sort(parts.begin(), parts.end());
  std::string out = hyper_node.empty() ? "" : "In hyperNode " + hyper_node + ": ";
  out += "0/" + std::to_string(nodes) + " nodes are unavailable";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? ": " : ", ") + parts[i];
  return out + ".";
}

NodeBoard::NodeBoard(const Session& session, TaskRef task, const TaskSpecPtr& among, bool of_others)
    : session_(session),
      task_(task),
      shape_(session.task(task).spec->shape),
      of_others_(of_others || among != nullptr),
      confined_(session.confined(task.job)) {
  for (const auto& tier : session_.plugins().task_filter.tiers) {
    for (const TaskFilterHook* hook : tier) {
      if (!hook->likeness(session, task).word.empty()) task_filters_.push_back(hook);
    }
  }
  for (const auto& tier : session_.plugins().task_score.tiers) {
    for (const TaskScoreHook* hook : tier) {
      if (!hook->likeness(session, task).word.empty()) task_scores_.push_back(hook);
    }
  }
  for (const auto& tier : session_.plugins().filter.tiers) {
    for (FilterHook* hook : tier) {
      if (hook->depends_on_load(*shape_)) load_filters_.push_back(hook);
    }
  }
  study_nodes();
  if (among != nullptr) neighbours_ = std::make_unique<Neighbours>(session, among);
  if (of_others_) return;
  seen_changes_ = session_.node_changes().size();
  heap_.reserve(session_.node_order().size());
  for (const NodeSlot slot : session_.node_order()) consider(slot);
}

bool NodeBoard::worse(const Entry& a, const Entry& b) {
  return a.score != b.score ? a.score < b.score : a.rank > b.rank;
}

void NodeBoard::study_nodes() {
  const std::size_t slots = session_.node_slots();
  rejected_.assign(slots, 0);
  stamps_.assign(slots, 0);
  fixed_scores_.assign(slots, 0);
  std::vector<const NodeSpec*> passing;
  for (const NodeSlot slot : session_.node_order()) {
    const NodeSpec& node = *session_.node(slot).spec;
    std::string why;
    for (const auto& tier : session_.plugins().filter.tiers) {
      for (const FilterHook* hook : tier) {
        if (why.empty()) why = hook->reject(*shape_, node);
      }
    }
    if (why.empty()) {
      passing.push_back(&node);
      continue;
    }
    const auto known = std::find(reasons_.begin(), reasons_.end(), why);
    rejected_[slot] = static_cast<std::uint16_t>(known - reasons_.begin() + 1);
    if (known == reasons_.end()) reasons_.push_back(std::move(why));
  }
  std::vector<std::int64_t> scores(passing.size(), 0);
  for (const auto& tier : session_.plugins().score.tiers) {
    for (const ScoreHook* hook : tier) hook->add_fixed(*shape_, passing, scores);
  }
  std::size_t next = 0;
  for (const NodeSlot slot : session_.node_order()) {
    if (rejected_[slot] == 0) fixed_scores_[slot] = scores[next++];
  }
}

std::string NodeBoard::load_reason(NodeSlot slot, bool future) const {
  if (!in_reach(slot)) return "node(s) outside the network domain";
  for (const FilterHook* hook : load_filters_) {
    const std::string_view why = hook->reject_now(*shape_, session_.node(slot), future);
    if (!why.empty()) return std::string(why);
  }
  for (const TaskFilterHook* hook : task_filters_) {
    std::string why = hook->reject_task(session_, task_, slot, future);
    if (!why.empty()) return why;
  }
  if (neighbours_ == nullptr) return {};
  neighbours_->catch_up();
  return std::string(neighbours_->reject(slot));
}

bool NodeBoard::in_reach(NodeSlot slot) const {
  return !confined_ || session_.allowed_on(task_.job, slot);
}

bool NodeBoard::passes_filters(NodeSlot slot, bool future) const {
  return rejected_[slot] == 0 && load_reason(slot, future).empty();
}

bool NodeBoard::fits_idle(NodeSlot slot) const {
  const NodeInfo& node = session_.node(slot);
  return rejected_[slot] == 0 && shape_->request.fits_in(node.idle) &&
         passes_filters(slot, /*future=*/false) && shape_->request.fits_in(node.future_idle());
}

bool NodeBoard::fits_future(NodeSlot slot) const {
  return rejected_[slot] == 0 && shape_->request.fits_in(session_.node(slot).future_idle()) &&
         passes_filters(slot, /*future=*/true);
}

std::int64_t NodeBoard::score(NodeSlot slot) const {
  std::int64_t sum = fixed_scores_[slot];
  for (const auto& tier : session_.plugins().score.tiers) {
    for (const ScoreHook* hook : tier) sum += hook->score(*shape_, session_.node(slot));
  }
  for (const TaskScoreHook* hook : task_scores_) sum += hook->score_task(session_, task_, slot);
  return sum;
}

void NodeBoard::consider(NodeSlot slot) {
  ++stamps_[slot];
  if (!fits_idle(slot)) return;
  heap_.push_back({score(slot), session_.node_rank(slot), slot, stamps_[slot]});
  std::push_heap(heap_.begin(), heap_.end(), worse);
}

void NodeBoard::catch_up() {
  const std::vector<NodeSlot>& changes = session_.node_changes();
  if (changes.size() - seen_changes_ > session_.node_order().size()) {
    heap_.clear();
    for (const NodeSlot slot : session_.node_order()) consider(slot);
  } else {
    for (std::size_t i = seen_changes_; i < changes.size(); ++i) consider(changes[i]);
  }
  seen_changes_ = changes.size();
}

NodeSlot NodeBoard::best_idle() {
  if (of_others_) {
    std::vector<NodeSlot> fitting;
    for (const NodeSlot slot : session_.node_order()) {
      if (fits_idle(slot)) fitting.push_back(slot);
    }
    return best_of(fitting);
  }
  catch_up();
  while (!heap_.empty() && heap_.front().stamp != stamps_[heap_.front().slot]) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    heap_.pop_back();
  }
  return heap_.empty() ? kNoNode : heap_.front().slot;
}

NodeSlot NodeBoard::best_future() {
  std::vector<NodeSlot> fitting;
  for (const NodeSlot slot : session_.node_order()) {
    if (!session_.node(slot).releasing.is_zero() && fits_future(slot)) fitting.push_back(slot);
  }
  return best_of(fitting);
}

NodeSlot NodeBoard::best_of(const std::vector<NodeSlot>& fitting) const {
  std::vector<std::int64_t> scores;
  for (const NodeSlot slot : fitting) scores.push_back(score(slot));
  if (neighbours_ != nullptr) neighbours_->add_scores(fitting, scores);
  Entry best;
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    const Entry entry{scores[i], session_.node_rank(fitting[i]), fitting[i], 0};
    if (best.slot == kNoNode || worse(best, entry)) best = entry;
  }
  return best.slot;
}

FitErrorPtr NodeBoard::explain() {
  const std::size_t now = session_.node_changes().size();
  if (explained_ != nullptr && explained_at_ == now && !confined_) return explained_;
  auto out = std::make_shared<FitError>();
  if (const Domain* domain = session_.confinement(task_.job); confined_ && domain != nullptr)
    out->hyper_node = domain->name;
  for (const NodeSlot slot : session_.node_order()) {
    if (!in_reach(slot)) continue;
    ++out->nodes;
    if (rejected_[slot] != 0) {
      ++out->reasons[reasons_[rejected_[slot] - 1]];
      continue;
    }
    const NodeInfo& node = session_.node(slot);
    if (std::string why = load_reason(slot, /*future=*/true); !why.empty()) {
      ++out->reasons[std::move(why)];
      continue;
    }
    const Resource room = node.future_idle();
    const Resource& request = shape_->request;
    for (Dim d = 0; d < request.dims(); ++d) {
      if (request.at(d) <= 0 || request.at(d) <= room.at(d)) continue;
      ++out->reasons[d == kPods ? "node(s) pod number exceeded"
                                : "Insufficient " + session_.names().name(d)];
    }
  }
  add_figures(*out);
  out->nearest = nearest({});
  explained_ = std::move(out);
  explained_at_ = now;
  return explained_;
}

void NodeBoard::add_figures(FitError& to) const {
  std::string asked, most, free;
  for (Dim d = 0; d < shape_->request.dims(); ++d) {
    const std::int64_t amount = shape_->request.at(d);
    if (amount <= 0 || (d == kPods && !shape_->best_effort())) continue;
    std::int64_t best = 0, all = 0;
    for (const NodeSlot slot : session_.node_order()) {
      if (rejected_[slot] != 0 || !in_reach(slot)) continue;
      const std::int64_t room = std::max<std::int64_t>(session_.node(slot).idle.at(d), 0);
      best = std::max(best, room);
      all += room;
    }
    asked += (asked.empty() ? "" : ", ") + session_.names().text(d, amount);
    most += (most.empty() ? "" : ", ") + session_.names().text(d, best);
    free += (free.empty() ? "" : ", ") + session_.names().text(d, all);
    to.room.push_back({session_.names().name(d), amount, best, all});
  }
  const auto usable =
      std::count_if(session_.node_order().begin(), session_.node_order().end(),
                    [&](NodeSlot slot) { return may_take(slot) && in_reach(slot); });
  to.usable = static_cast<std::size_t>(usable);
  to.figures = "requested: " + asked;
  if (usable == 0) {
    to.figures += "; no node may take it";
    return;
  }
  to.figures += "; most free on one node: " + most + "; free on " + std::to_string(usable) +
                (usable == 1 ? " node: " : " nodes: ") + free;
}

// How far a node is from taking the shape: first how many amounts it lacks, then the largest part
// of what is asked for that is missing.
NearestNode NodeBoard::nearest(const std::map<NodeSlot, Resource>& kept) const {
  const Resource& request = shape_->request;
  NodeSlot best = kNoNode;
  std::pair<int, Share> least;
  for (const NodeSlot slot : session_.node_order()) {
    if (rejected_[slot] != 0 || !in_reach(slot)) continue;
    const NodeInfo& node = session_.node(slot);
    const auto own = kept.find(slot);
    const bool large = own == kept.end() ? request.fits_in(node.spec->allocatable)
                                         : request.fits_in(node.spec->allocatable - own->second);
    if (!large) continue;
    const Resource room = node.future_idle();
    std::pair<int, Share> lacks{0, Share()};
    for (Dim d = 0; d < request.dims(); ++d) {
      const std::int64_t missing = request.at(d) - std::max<std::int64_t>(room.at(d), 0);
      if (request.at(d) <= 0 || missing <= 0) continue;
      ++lacks.first;
      lacks.second = std::max(lacks.second, Share(missing, request.at(d)));
    }
    if (best != kNoNode && !(lacks < least)) continue;
    best = slot;
    least = lacks;
  }
  NearestNode out;
  if (best == kNoNode) return out;
  out.name = session_.node(best).name;
  const Resource room = session_.node(best).future_idle();
  for (Dim d = 0; d < request.dims(); ++d) {
    const std::int64_t missing = request.at(d) - std::max<std::int64_t>(room.at(d), 0);
    if (request.at(d) > 0 && missing > 0)
      out.lacking.emplace_back(session_.names().name(d), missing);
  }
  return out;
}

NearestNode NodeBoard::nearest_for(JobId job) {
  std::map<NodeSlot, Resource> kept;
  for (const Task& task : session_.job(job).tasks) {
    if (task.node != kNoNode && uses_node(task.status))
      kept[task.node] += task.spec->shape->request;
  }
  return kept.empty() ? explain()->nearest : nearest(kept);
}

}  // namespace krater::scheduler
