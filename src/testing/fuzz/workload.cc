// Workloads of `krater simulate`: whatever the file holds, it is refused with its name, or what is
// read of it can be played: times, counts and amounts within their bounds, every job with pods.
#include <cstdint>
#include <set>

#include "base/check.h"
#include "base/quantity.h"
#include "replay/formats.h"

namespace {

using namespace krater;

// What a small file may ask for of pods is bounded by format, but not by its size.
bool asks_for_many(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4 && digits < 7) return true;
  }
  return false;
}

void check_job(const replay::Submission& job) {
  CHECK_MSG(job.at >= Duration(0) && job.at < std::chrono::hours(24 * 366 * 200), job.name);
  CHECK_MSG(!job.pods.empty() && job.min >= 0, job.name);
  for (const replay::PodPlan& plan : job.pods) {
    CHECK_MSG(!plan.run || *plan.run >= Duration(0), job.name);
    const JsonArray* containers = array_at(plan.pod, {"spec", "containers"});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const JsonObject* requests = object_at((*containers)[i], {"resources", "requests"});
      if (requests == nullptr) continue;
      for (const auto& [name, amount] : *requests) {
        const std::string text =
            amount.is_string() ? std::string(view(amount.get_string())) : to_json(amount);
        const auto parsed = Quantity::parse(text);
        CHECK_MSG(parsed.has_value() && parsed->sign() >= 0, job.name + " asks for " + text);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (asks_for_many(text)) return 0;
  const Result<replay::Workload> read =
      replay::read_files({{"input", text}}, replay::Format::Auto, {});
  if (!read) {
    const std::string& why = read.error().message;
    CHECK_MSG(why.find("input") != std::string::npos || why == "there is nothing in it", why);
    return 0;
  }
  std::set<std::string> names;
  for (const replay::Submission& job : read->submissions) {
    CHECK_MSG(names.insert(job.name).second, job.name + " is there twice");
    check_job(job);
  }
  return 0;
}
