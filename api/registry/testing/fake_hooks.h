// Webhooks for tests: each question is answered by a function, at once or when the test says so.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/webhook/caller.h"
#include "base/check.h"

namespace krater::api::testing {

class FakeHooks final : public HookCaller {
 public:
  struct Asked {
    std::string hook;
    Json request;
    Duration limit{};
  };
  using Answer = std::function<HookVerdict(const Hook& hook, const Json& request)>;

  // What is said by default: yes.
  Answer answer = [](const Hook&, const Json&) { return allowed(); };
  bool hold = false;  // answers wait for release()

  void call(const HookQuestion& question, Duration limit, Done done) override {
    Result<Json> request = parse_json(question.request);
    CHECK(request.has_value());
    asked.push_back({question.hook->name, *request, limit});
    HookVerdict verdict = answer(*question.hook, *request);
    if (!hold) return done(std::move(verdict));
    held_.emplace_back(std::move(done), std::move(verdict));
  }
  void give_up() override {}
  void release() {
    const auto some = std::exchange(held_, {});
    for (const auto& [done, verdict] : some) done(verdict);
  }

  static HookVerdict allowed() {
    HookVerdict out;
    out.outcome = HookVerdict::Outcome::Allowed;
    return out;
  }
  static HookVerdict patched(std::string_view operations) {
    HookVerdict out = allowed();
    Result<Json> patch = parse_json(operations);
    CHECK_MSG(patch.has_value(), operations);
    out.patch = *std::move(patch);
    return out;
  }
  static HookVerdict denied(std::string_view status) {
    HookVerdict out;
    out.outcome = HookVerdict::Outcome::Denied;
    Result<Json> parsed = parse_json(status);
    CHECK_MSG(parsed.has_value(), status);
    out.status = *std::move(parsed);
    return out;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Asked& one : asked) out.push_back(one.hook);
    return out;
  }

  std::vector<Asked> asked;

 private:
  std::vector<std::pair<Done, HookVerdict>> held_;
};

}  // namespace krater::api::testing
