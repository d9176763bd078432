// What request handlers are given. Owned by the server (api/server/server.h), shared by all
// connections; everything in it may be used on any io thread.
#pragma once

#include <string>
#include <vector>

#include "api/auth/authenticator.h"
#include "api/auth/authorizer.h"
#include "api/auth/pki.h"
#include "api/auth/service_account_tokens.h"
#include "api/registry/registry.h"
#include "api/server/auditing.h"
#include "api/server/component_log.h"
#include "api/server/discovery.h"
#include "api/server/flow_control.h"
#include "api/server/health.h"
#include "api/server/metrics.h"
#include "api/server/openapi.h"
#include "api/server/tunnel_hub.h"
#include "base/env.h"

namespace krater::api {

struct Deps {
  Registry& registry;
  const Authenticator& authenticator;
  const Authorizer& authorizer;
  const ServiceAccountTokens& tokens;
  const CertificateAuthority& authority;
  const WallClock& clock;
  Rng& rng;
  Metrics& metrics;
  TunnelHub& tunnels;
  const Discovery& discovery;
  const OpenApi& openapi;
  std::vector<HealthCheck> health;
  std::string version;         // of Krater: "0.1.0"
  std::string server_address;  // "host:port", as discovery tells it
  FlowControl& flow;
  const Auditing* auditing;  // null: no audit log
  ComponentLogs component_logs{};

  // The object now, from the registry's index.
  ObjectLookup lookup() const {
    return [this](const Kind& kind, std::string_view name_space, std::string_view name) {
      return registry.get(kind, name_space, name);
    };
  }
};

}  // namespace krater::api
