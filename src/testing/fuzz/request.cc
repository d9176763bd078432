// Whole HTTP requests, as their bytes come: read by the server's own reader of heads, then answered
// by all of the API server over a registry in memory, as a master who may do anything. Whatever is
// asked has an answer, it is no "Internal Server Error", and what says it is JSON is JSON.
//
// The registry keeps what earlier inputs wrote, for a while: what is there matters as much as what
// is asked. A finding may need the inputs before it; -seed and -runs bring them again.
#include <cstdint>
#include <memory>

#include "api/server/testing/bare_service.h"
#include "base/check.h"
#include "base/log.h"
#include "base/strings.h"

namespace {

namespace api = krater::api;

constexpr int kOneRegistry = 4'000;  // inputs

bool is_json(const api::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Content-Type") return krater::to_lower(value).starts_with("application/json");
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never destroyed: at exit the store's library may be gone before it.
  static auto& service = *new std::unique_ptr<api::testing::BareService>();
  static int left = 0;
  auto request = api::testing::BareService::read({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  if (left-- == 0) {
    krater::log::configure(krater::log::Level::Error);
    service.reset();
    service = std::make_unique<api::testing::BareService>();
    left = kOneRegistry;
  }
  const std::string head = request->method + " " + request->target;
  const api::Response response = service->ask(*std::move(request));
  const std::string body = response.body.text();
  CHECK_MSG(response.status >= 100 && response.status < 600 && response.status != 500,
            head + "\n" + body);
  if (is_json(response) && !body.empty())
    CHECK_MSG(krater::parse_json(body).has_value(), head + "\n" + body);
  return 0;
}
