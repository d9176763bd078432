// One request's audit events: audit.k8s.io/v1 Event, one at each stage it passes. Told of by the
// server as it goes along; writes each stage that the policy wants. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/audit/audit_log.h"
#include "api/audit/policy.h"
#include "base/env.h"
#include "base/json.h"

namespace krater::api::audit {

// What is known once the head of a request has been read.
struct RequestFacts {
  std::string audit_id, uri, user_agent;
  std::vector<std::string> source_ips;
  Identity user;    // as authenticated, before any impersonation
  Attributes what;  // verb and path or resource
};

class Trail {
 public:
  Trail(std::shared_ptr<AuditLog> log, const WallClock& clock, Decision decision,
        RequestFacts facts)
      : log_(std::move(log)),
        clock_(clock),
        decision_(decision),
        facts_(std::move(facts)),
        received_(clock.now()) {}

  bool wants_request() const { return decision_.level >= Level::Request; }
  bool wants_response() const { return decision_.level >= Level::RequestResponse; }

  void impersonated(const Identity& who) { impersonated_ = who; }
  void annotate(std::string key, std::string value) { annotations_[key] = std::move(value); }
  // The object of the request; names the event's object where the path does not. Kept at the levels
  // that want it.
  void request_object(Json object);
  // The whole answer. Of a Status the outcome is kept at every level.
  void response_object(Json object);

  void received() { tell(Stage::RequestReceived, 0); }
  void started(int code) { tell(Stage::ResponseStarted, code); }
  void complete(int code) { tell(Stage::ResponseComplete, code); }
  void panicked(const std::string& what);
  // Who could not be recognised: one event, and no other.
  void unauthenticated(std::string why);

 private:
  void tell(Stage stage, int code);
  Json event(Stage stage, int code) const;
  Json object_reference() const;
  void without_managed_fields(Json& object) const;

  std::shared_ptr<AuditLog> log_;
  const WallClock& clock_;
  Decision decision_;
  RequestFacts facts_;
  WallTime received_;
  std::optional<Identity> impersonated_;
  JsonObject annotations_;
  Json request_, response_;  // null: none
  JsonObject status_;        // members of responseStatus besides metadata and code
};

}  // namespace krater::api::audit
