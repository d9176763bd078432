// drf: the job with the smallest dominant share of the cluster goes first.
#include <vector>

#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

Share dominant_share(const Resource& allocated, const Resource& total) {
  Share out;
  for (Dim d = 0; d < total.dims(); ++d) {
    if (d == kPods) continue;
    const Share one(allocated.at(d), total.at(d));
    if (out < one) out = one;
  }
  return out;
}

class Drf final : public Plugin, public JobOrderHook {
 public:
  void open(const Session& session) override {
    shares_.resize(session.job_count());
    held_.resize(session.job_count());
    for (JobId id = 0; id < session.job_count(); ++id) {
      held_[id] = session.job(id).allocated;
      refresh(session, id);
    }
  }
  int job_order(const Session& session, JobId a, JobId b) const override {
    return Share::compare(shares_[a], shares_[b]);
  }
  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    held_[job] += task.shape->request;
    refresh(session, job);
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    held_[job] -= task.shape->request;
    refresh(session, job);
  }

 private:
  void refresh(const Session& session, JobId job) {
    shares_[job] = dominant_share(held_[job], session.total());
  }

  std::vector<Resource> held_;  // promised places included
  std::vector<Share> shares_;
};

}  // namespace

Result<PluginFactory> configure_drf(Arguments& arguments, const EnableFlags& flags) {
  if (flags.on("enableHierarchy")) {
    return make_error(Code::Invalid, "enableHierarchy is not available, only flat fair shares are");
  }
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Drf>(), enabled);
  });
}

}  // namespace krater::scheduler
