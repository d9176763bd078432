// How webhooks fare, under kube-apiserver's names. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "api/webhook/hook.h"
#include "api/webhook/review.h"
#include "base/time.h"

namespace krater::api {

class HookStats {
 public:
  // Upper bounds of the histogram's buckets, in seconds.
  static constexpr std::array<double, 8> kBounds{0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25};
  struct Times {
    std::array<std::uint64_t, kBounds.size() + 1> buckets{};  // not cumulated
    double sum_s = 0;
    std::uint64_t count = 0;
  };
  // By the text of their labels, in byte order.
  struct Totals {
    std::map<std::string, std::uint64_t> requests, rejections, fail_opens;
    std::map<std::string, Times> durations;  // `le` stands first, before these labels
  };

  void count(const Hook& hook, std::string_view operation, const HookVerdict& verdict,
             Duration took);
  Totals totals() const;

 private:
  mutable std::mutex mutex_;
  Totals totals_;
};

}  // namespace krater::api
