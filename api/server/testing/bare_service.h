// All of the API server but for its sockets: requests as values in, responses as values out, over a
// registry in memory. For tests and fuzzers that are about what is asked, not how it is carried.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>

#include "api/auth/openssl.h"
#include "api/auth/rbac/rbac_authorizer.h"
#include "api/registry/testing/harness.h"
#include "api/server/deps.h"
#include "api/server/request_reader.h"
#include "api/server/server.h"
#include "api/server/service.h"
#include "model/rbac_kinds.h"

namespace krater::api::testing {

class BareService {
 public:
  Registry& registry() { return harness_.registry(); }

  // A request as its bytes come, read as connections read it; nothing when it has no head.
  static std::optional<Request> read(std::string_view text) {
    boost::beast::http::request_parser<boost::beast::http::string_body> parser;
    parser.header_limit(16 << 10);
    parser.body_limit(1 << 20);
    parser.eager(true);
    boost::system::error_code failed;
    const std::size_t used = parser.put(boost::asio::buffer(text.data(), text.size()), failed);
    if (!parser.is_header_done()) return std::nullopt;
    Result<Request> request = request_of_head(parser.get());
    if (!request) return std::nullopt;
    request->body = parser.get().body();
    // A body of another length than was announced is a body too.
    if (request->body.empty()) request->body = std::string(text.substr(used));
    return *std::move(request);
  }

  // As a master. Streams and upgrades are answered, not run.
  Response ask(Request request) {
    request.remote = "127.0.0.1";
    request.certificate = PresentedCertificate{"kubernetes-admin", {"system:masters"}, ""};
    Call call = service_.admit(request);
    std::optional<Response> out;
    io_.restart();
    boost::asio::co_spawn(io_, service_.handle(call),
                          [&out](std::exception_ptr failed, Response response) {
                            if (failed) std::rethrow_exception(failed);
                            out = std::move(response);
                          });
    io_.run();
    CHECK(out.has_value());
    service_.finish(call, *out);
    out->stream = {};
    out->upgrade = {};
    return *std::move(out);
  }

 private:
  static std::shared_ptr<const JwtSigner> new_signer() {
    return *JwtSigner::make(*openssl::to_pem(openssl::new_p256_key()->get()));
  }

  boost::asio::io_context io_;
  Harness harness_;
  SeededRng rng_{7};
  CertificateAuthority authority_ = *CertificateAuthority::create(
      "test-ca", {harness_.clock().now() - 1h, harness_.clock().now() + 24h});
  ServiceAccountTokens tokens_{new_signer(), {}, harness_.clock(), rng_};
  std::unique_ptr<Authenticator> authenticator_ =
      make_authenticator(tokens_, registry_lookup(harness_.registry()), harness_.clock());
  NodeGraph graph_{object_history(harness_.registry(), {kinds::kPod})};
  std::unique_ptr<Authorizer> authorizer_ = make_rbac_authorizer(
      make_built_in_authorizer(registry_lookup(harness_.registry()), graph_),
      object_history(harness_.registry(), {kinds::kRole, kinds::kClusterRole, kinds::kRoleBinding,
                                           kinds::kClusterRoleBinding}));
  Metrics metrics_;
  TunnelHub tunnels_;
  Discovery discovery_{harness_.schemas()};
  OpenApi openapi_{harness_.schemas(), harness_.clock()};
  FlowControl flow_{{}};
  Deps deps_{harness_.registry(),
             *authenticator_,
             *authorizer_,
             tokens_,
             authority_,
             harness_.clock(),
             rng_,
             metrics_,
             tunnels_,
             discovery_,
             openapi_,
             {},
             "0.1.0",
             "127.0.0.1:6443",
             flow_,
             nullptr,
             {}};
  Service service_{deps_};
};

}  // namespace krater::api::testing
