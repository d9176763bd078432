// From a request to a response: who asks, what for, may he, who answers. Knows no socket. Any io
// thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "api/server/deps.h"
#include "api/server/http.h"
#include "api/server/routes.h"

namespace krater::api {

// A request between its head and its answer.
struct Call {
  Exchange exchange;
  Handler handler = nullptr;
  std::optional<Response> refused{};  // instead of what the handler would answer
  Metrics::Labels labels{};
  std::chrono::steady_clock::time_point begin{};
  std::string audit_id{};
  std::unique_ptr<audit::Trail> trail{};  // null: not audited
  FlowControl::Place place{};             // held until the answer is out
  std::unique_ptr<Metrics::LongRunning> long_running{};
};

class Service {
 public:
  explicit Service(Deps& deps) : deps_(deps) {}
  // From the head alone: what is refused here is refused before anything of its body is kept.
  // `request` must outlive the call, and the response's stream or upgrade.
  Call admit(const Request& request) const;
  // Answers with the body at hand. Counts and logs the request, refused ones too.
  boost::asio::awaitable<Response> handle(Call& call);
  // Once a stream or an upgraded connection is over; of other answers handle() has told everything.
  void finish(Call& call, const Response& response) const;
  void count_failed_handshake() const { ++deps_.metrics.tls_handshake_errors; }

 private:
  Result<Identity> authenticate(const Request& request) const;
  void describe(Call& call) const;
  void audit(Call& call, const Result<Identity>& who) const;
  bool allowed(Call& call) const;
  bool take_place(Call& call) const;
  void admit_path(Call& call) const;
  void admit_resource(Call& call) const;
  void tell(Call& call, const Response& response) const;
  Deps& deps_;
};

}  // namespace krater::api
