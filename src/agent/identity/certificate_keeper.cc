#include "agent/identity/certificate_keeper.h"

#include <algorithm>

#include "base/log.h"

namespace krater::agent {
namespace {

constexpr Duration kPatience = std::chrono::minutes(15);
constexpr Duration kFirstBackoff = std::chrono::seconds(2), kLastBackoff = std::chrono::minutes(2);
// Timers hold less than a year's worth of nanoseconds comfortably; a look a day is enough.
constexpr Duration kLongestSleep = std::chrono::hours(24);

}  // namespace

CertificateKeeper::~CertificateKeeper() {
  if (timer_ != 0) deps_.loop.cancel(timer_);
}

void CertificateKeeper::start(CertificateLife life) {
  backoff_ = kFirstBackoff;
  const Duration whole = std::max(life.until - life.since, Duration(0));
  // Not all nodes of a cluster in the same minute.
  const auto permille = static_cast<std::int64_t>(700 + deps_.rng.below(201));
  const WallTime due = life.since + whole / 1000 * permille;
  log::debug("agent.certificate_due", {{"at", to_rfc3339(due)}, {"ends", to_rfc3339(life.until)}});
  sleep(due - deps_.clock.now());
}

void CertificateKeeper::sleep(Duration delay) {
  const Duration now = std::min(delay, kLongestSleep);
  timer_ = deps_.loop.after(now, [this, rest = delay - now] {
    timer_ = 0;
    if (rest > Duration(0)) return sleep(rest);
    renew();
  });
}

void CertificateKeeper::renew() {
  const Result<KeyAndRequest> made = deps_.make_request();
  if (!made) return answered({}, made.error());
  asker_ = std::make_unique<CertificateAsker>(deps_.client, deps_.loop, kPatience);
  asker_->ask("csr-" + deps_.rng.suffix(10), made->request_pem,
              [this, key = made->key_pem](const Result<std::string>& certificate_pem) {
                answered(key, certificate_pem);
              });
}

void CertificateKeeper::answered(const std::string& key_pem,
                                 const Result<std::string>& certificate_pem) {
  if (const Result<void> taken = take(key_pem, certificate_pem); !taken) {
    log::warn(
        "agent.certificate_not_renewed",
        {{"error", taken.error().message}, {"again_in_s", backoff_ / std::chrono::seconds(1)}});
    sleep(backoff_);
    backoff_ = std::min(backoff_ * 2, kLastBackoff);
  }
}

Result<void> CertificateKeeper::take(const std::string& key_pem,
                                     const Result<std::string>& certificate_pem) {
  if (!certificate_pem) return certificate_pem.error();
  TRY_ASSIGN(const WallTime until, deps_.end_of(*certificate_pem));
  TRY(deps_.adopt(key_pem, *certificate_pem));
  log::info("agent.certificate_renewed", {{"ends", to_rfc3339(until)}});
  start({deps_.clock.now(), until});
  return {};
}

}  // namespace krater::agent
