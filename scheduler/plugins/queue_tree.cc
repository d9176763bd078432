#include "scheduler/plugins/queue_tree.h"

#include <algorithm>
#include <map>

#include "model/keys.h"

namespace krater::scheduler {
namespace {

std::string quoted(const QueueName& name) {
  return "\"" + name.text() + "\"";
}

}  // namespace

QueueTree QueueTree::flat(const Session& session) {
  QueueTree out;
  out.root_ = session.queue_count();
  out.parents_.assign(session.queue_count() + 1, out.root_);
  out.parents_[out.root_] = kNoQueue;
  out.flaws_.resize(out.size());
  out.finish(session);
  return out;
}

QueueTree QueueTree::hierarchy(const Session& session) {
  QueueTree out;
  out.hierarchy_ = true;
  std::map<QueueName, QueueId> ids;
  for (QueueId q = 0; q < session.queue_count(); ++q) ids.emplace(session.queue(q).name, q);
  const QueueName root_name(keys::kRootQueue);
  const auto stored = ids.find(root_name);
  out.root_ = stored == ids.end() ? session.queue_count() : stored->second;
  ids.emplace(root_name, out.root_);
  out.parents_.assign(session.queue_count() + (stored == ids.end() ? 1 : 0), kNoQueue);
  out.flaws_.resize(out.size());
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    if (q == out.root_) continue;
    const QueueName& parent = session.queue(q).parent;
    const auto known = ids.find(parent.empty() ? root_name : parent);
    if (known == ids.end()) {
      out.flaws_[q] = "its parent " + quoted(parent) + " does not exist";
    } else {
      out.parents_[q] = known->second;
    }
  }
  out.finish(session);
  return out;
}

void QueueTree::finish(const Session& session) {
  children_.resize(size());
  paths_.resize(size());
  for (QueueId q = 0; q < size(); ++q) {
    if (parents_[q] != kNoQueue && parents_[q] != q) children_[parents_[q]].push_back(q);
  }
  top_down_.push_back(root_);
  for (std::size_t i = 0; i < top_down_.size(); ++i) {
    const QueueId at = top_down_[i];
    paths_[at] = {at};
    if (at != root_) {
      const std::vector<QueueId>& above = paths_[parents_[at]];
      paths_[at].insert(paths_[at].end(), above.begin(), above.end());
    }
    for (const QueueId child : children_[at]) top_down_.push_back(child);
  }
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    if (!paths_[q].empty()) continue;
    paths_[q] = {q};
    if (flaws_[q].empty()) flaws_[q] = "following its parents does not lead to root";
  }
  if (!hierarchy_) return;
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    if (flaws_[q].empty() && (!leaf(q) || q == root_))
      flaws_[q] = "only queues without queues below them take jobs";
  }
}

std::size_t QueueTree::common_depth(QueueId a, QueueId b) const {
  const std::vector<QueueId>&left = paths_[a], &right = paths_[b];
  std::size_t common = 0;
  while (common < left.size() && common < right.size() &&
         left[left.size() - 1 - common] == right[right.size() - 1 - common]) {
    ++common;
  }
  return common;
}

QueueId QueueTree::branch_towards(QueueId queue, QueueId other) const {
  const std::vector<QueueId>& mine = paths_[queue];
  const std::size_t common = common_depth(queue, other);
  return common >= mine.size() ? queue : mine[mine.size() - 1 - common];
}

}  // namespace krater::scheduler
