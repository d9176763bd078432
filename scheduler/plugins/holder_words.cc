#include "scheduler/plugins/holder_words.h"

#include "scheduler/explain.h"

namespace krater::scheduler {
namespace {

// Of those who hold something so many are named.
constexpr std::size_t kMostNamed = 5;

}  // namespace

std::string quoted_queue(const Session& session, QueueId queue) {
  return "queue \"" + session.queue(queue).name.text() + "\"";
}

void add_named(std::vector<std::string> lines, Circumstances& out) {
  const std::size_t more = lines.size() > kMostNamed ? lines.size() - kMostNamed : 0;
  lines.resize(lines.size() - more);
  if (more > 0) lines.push_back("and so do " + std::to_string(more) + " other queues");
  out.lines.insert(out.lines.end(), lines.begin(), lines.end());
}

void say_beyond(const Session& session, const std::vector<Held>& held, Circumstances& out) {
  std::vector<std::string> lines;
  for (const Held& one : held) {
    const bool gives = session.queue(one.queue).reclaimable;
    out.holdings.push_back(
        {session.queue(one.queue).name.text(), one.amounts, Holding::Title::BeyondDeserved, gives});
    lines.push_back(quoted_queue(session, one.queue) + " holds " +
                    amounts_text(session.names(), one.amounts) + " beyond what it deserves" +
                    (gives ? "" : ", and gives nothing back"));
  }
  add_named(std::move(lines), out);
}

void say_deserves_no_more(const Session& session, JobId job, const Shortage& shortage,
                          const std::vector<Held>& held, Circumstances& out) {
  if (held.empty()) return;
  std::vector<std::string> lines;
  for (const Held& one : held) {
    out.holdings.push_back({session.queue(one.queue).name.text(), one.amounts,
                            Holding::Title::Holds, session.queue(one.queue).reclaimable});
    const std::string deserves = amounts_text(session.names(), one.deserved);
    lines.push_back(quoted_queue(session, one.queue) + " holds " +
                    amounts_text(session.names(), one.amounts) +
                    (deserves.empty() ? "" : " and deserves " + deserves));
  }
  const QueueId queue = session.queue_of(job);
  const std::vector<Shortfall> facts = shortage.facts("queue " + session.queue(queue).name.text());
  out.deserved.insert(out.deserved.end(), facts.begin(), facts.end());
  // The action may have said so.
  const std::string said = quoted_queue(session, queue) + " deserves no more";
  if (session.note(job).no_eviction.find(said) == std::string::npos)
    out.lines.push_back(said + " (" + shortage.figures() + "), so nothing is taken from others");
  add_named(std::move(lines), out);
}

}  // namespace krater::scheduler
