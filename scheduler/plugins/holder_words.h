// Who holds what a job lacks, in words and as data: the same for all plugins that know what a queue
// deserves. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

class Shortage;

// A queue, what it holds of what is lacking, and what it deserves of that.
struct Held {
  QueueId queue = kNoQueue;
  Resource amounts{};
  Resource deserved{};
};

std::string quoted_queue(const Session& session, QueueId queue);
// The first few, and how many there are besides.
void add_named(std::vector<std::string> lines, Circumstances& out);
// They hold `amounts` beyond what they deserve.
void say_beyond(const Session& session, const std::vector<Held>& held, Circumstances& out);
// The job's queue would have more than it deserves, so that nothing is taken from others for it,
// whatever they hold. Said where they hold something.
void say_deserves_no_more(const Session& session, JobId job, const Shortage& shortage,
                          const std::vector<Held>& held, Circumstances& out);

}  // namespace krater::scheduler
