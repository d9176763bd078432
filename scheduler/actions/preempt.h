// preempt: within a queue, jobs that starve take the places of others, as far as the plugins allow;
// and within a job its more important tasks those of its lesser ones. A gang gets all it needs or
// takes nothing (volcano.md 3.4). Of all nodes the one is taken where it costs least.
#pragma once

namespace krater::scheduler {

class Session;
void preempt(Session& session);

}  // namespace krater::scheduler
