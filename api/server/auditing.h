// Between a request on its way and the audit log: which trail it leaves, and what of its bodies.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/audit/audit_log.h"
#include "api/audit/policy.h"
#include "api/audit/trail.h"

namespace krater {
class WallClock;
}

namespace krater::api {

struct Exchange;
struct Request;
struct Response;
class Metrics;
class SchemaSet;

struct Auditing {
  audit::Policy policy;
  std::shared_ptr<audit::AuditLog> log;
};

// Null where the policy wants nothing of this request. `who` null: nobody has been recognised.
std::unique_ptr<audit::Trail> begin_trail(const Auditing& auditing, const WallClock& clock,
                                          const Request& request, const std::string& audit_id,
                                          const Identity* who, const Attributes& what);

// What the request said and, once there is one, the answer did: as far as the trail wants it.
void tell_request(audit::Trail& trail, const Exchange& exchange, const SchemaSet& schemas);
void tell_response(audit::Trail& trail, const Response& response);

// The id a request is known by: the client's own (Audit-ID, at most 64 characters) or a new one.
std::string audit_id_of(const Request& request, const std::string& fresh);

// apiserver_audit_*.
void add_audit_metrics(Metrics& metrics, const Auditing& auditing);

}  // namespace krater::api
