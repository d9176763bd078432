// What the controller remembers of one job beside what is stored: occurrences that leave no trace,
// and what has been said already. Control loop only.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controllers/vcjob/choice.h"
#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

struct Memory {
  // A succeeded pod that is gone and that the status does not know as such yet.
  struct Done {
    Uid job;
    std::string task;
    std::int64_t index = 0;
  };
  std::vector<Occurrence> happened{};  // orders, then what happened; oldest first
  std::vector<Done> done{};
  std::set<Uid> taken{};                   // Commands that are among `happened`, or were
  std::set<std::string> told{};            // delays that have been announced
  std::string group_news;                  // the last one told
  std::optional<WallTime> news_at{};       // when, while its group goes on waiting
  Duration news_pause{};                   // until it may be told in other words
  std::optional<WallTime> counts_since{};  // how long counts have been waiting to be told
  bool key_asked = false;
  bool creation_failed = false;  // of a child, in the last pass
  std::optional<SshKey> ssh_key{};

  // Drops what has been acted on or concerns another life of the job; the rest gets its time.
  void refresh(const Observed& seen, WallTime now);
  // After a choice: what needs no further thought goes, what is acted on is marked.
  void settle(const Choice& choice, const Status& status);
  void give_order(VolcanoAction action, const Uid& job);
  bool has_orders() const { return !happened.empty() && happened.front().ordered.has_value(); }
};

}  // namespace krater::controllers::vcjob
