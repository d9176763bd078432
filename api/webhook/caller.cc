#include "api/webhook/caller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"

namespace krater::api {
namespace {

// "10s": whole seconds, rounded up.
std::string seconds_text(Duration time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
  return std::to_string(seconds.count()) + "s";
}

class TheCaller final : public HookCaller {
 public:
  TheCaller(Loop& loop, HookTransport& transport, Rng& rng, HookStats& stats)
      : loop_(loop), transport_(transport), rng_(rng), stats_(stats) {}

  void call(const HookQuestion& question, Duration limit, Done done) override {
    loop_.post([this, question, limit, done = std::move(done)]() mutable {
      send(std::move(question), limit, std::move(done));
    });
  }

  void give_up() override {
    loop_.post([this] {
      given_up_ = true;
      const std::set<AskedPtr> open = open_;
      for (const AskedPtr& asked : open) finish(asked, cancelled());
    });
  }

 private:
  struct Asked {
    HookQuestion question;
    std::string uid, url;
    SteadyTime begin;
    Done done;
  };
  using AskedPtr = std::shared_ptr<Asked>;

  static HookVerdict cancelled() {
    return HookVerdict::failed("failed to call webhook: context canceled", 503);
  }

  void send(HookQuestion question, Duration limit, Done done) {
    const Hook& hook = *question.hook;  // which `asked` keeps
    const auto asked = std::make_shared<Asked>(
        Asked{std::move(question), rng_.uuid(), {}, loop_.now(), std::move(done)});
    open_.insert(asked);
    if (given_up_) return finish(asked, cancelled());
    if (hook.review_version.empty()) {
      return finish(asked, HookVerdict::failed("could not create admission objects: webhook does "
                                               "not accept known AdmissionReview versions (v1, "
                                               "v1beta1)",
                                               400));
    }
    if (!hook.address.problem.empty()) {
      return finish(asked,
                    HookVerdict::failed("could not get REST client: " + hook.address.problem, 500));
    }
    const Duration timeout = std::min<Duration>(hook.timeout, limit);
    asked->url = hook.address.url + "?timeout=" + seconds_text(timeout);
    HookPost post{hook.address, asked->url,
                  review_text(hook.review_version, asked->uid, asked->question.request), timeout};
    transport_.post(std::move(post), [this, asked](Result<HttpResponse> reply) {
      finish(asked, reply ? read_verdict(*asked->question.hook, asked->uid, *reply)
                          : unreached(asked->url, reply.error()));
    });
  }

  // The first end counts.
  void finish(const AskedPtr& asked, HookVerdict verdict) {
    if (open_.erase(asked) == 0) return;
    const Hook& hook = *asked->question.hook;
    stats_.count(hook, asked->question.operation, verdict, loop_.now() - asked->begin);
    if (verdict.outcome == HookVerdict::Outcome::Failed) {
      log::warn("webhook.failed", {{"configuration", hook.configuration},
                                   {"webhook", hook.name},
                                   {"policy", hook.fail ? "Fail" : "Ignore"},
                                   {"error", verdict.failure}});
    }
    const Done done = std::move(asked->done);
    done(std::move(verdict));
  }

  Loop& loop_;
  HookTransport& transport_;
  Rng& rng_;
  HookStats& stats_;
  std::set<AskedPtr> open_;
  bool given_up_ = false;
};

}  // namespace

std::unique_ptr<HookCaller> make_hook_caller(Loop& loop, HookTransport& transport, Rng& rng,
                                             HookStats& stats) {
  return std::make_unique<TheCaller>(loop, transport, rng, stats);
}

}  // namespace krater::api
