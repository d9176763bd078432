#include "cli/extender_calls.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "runtime/http_client.h"

namespace krater::cli {
namespace {

// The client itself ends an exchange in time; what is beyond that only guards against its failing.
constexpr Duration kGrace = std::chrono::milliseconds(200);

}  // namespace

ExtenderCalls::~ExtenderCalls() {
  if (http_ != nullptr) thread_.run_and_wait([this] { http_.reset(); });
}

Result<HttpResponse> ExtenderCalls::call(HttpRequest request) {
  if (left_ <= Duration(0))
    return make_error(Code::Timeout, "the extender has used up its time in this cycle");
  if (http_ == nullptr) {
    thread_.start();
    thread_.run_and_wait([this] { http_ = runtime::make_http_client(thread_.loop(), {}); });
  }
  request.timeout = std::min(request.timeout, left_);
  const Duration patience = request.timeout + kGrace;
  const SteadyTime begin = thread_.loop().now();
  using Answer = Result<HttpResponse>;
  const auto answered = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = answered->get_future();
  const auto exchange = std::make_shared<std::unique_ptr<HttpExchange>>();
  thread_.loop().post([this, answered, exchange, request = std::move(request)]() mutable {
    *exchange = http_->send(std::move(request),
                            [answered](Answer got) { answered->set_value(std::move(got)); });
  });
  const bool in_time = answer.wait_for(patience) == std::future_status::ready;
  // Exchanges are dropped where they were made.
  thread_.loop().post([exchange] { exchange->reset(); });
  left_ -= thread_.loop().now() - begin;
  if (!in_time) return make_error(Code::Timeout, "the extender did not answer in time");
  return answer.get();
}

}  // namespace krater::cli
