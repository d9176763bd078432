// A whole API server on 127.0.0.1 with an in-memory store, its own authority and two io threads.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/auth/bootstrap_token.h"
#include "api/auth/openssl.h"
#include "api/auth/rbac/rbac_authorizer.h"
#include "api/registry/testing/harness.h"
#include "api/server/server.h"
#include "api/server/testing/https_client.h"
#include "model/rbac_kinds.h"

namespace krater::api::testing {

class TestServer {
 public:
  explicit TestServer(ServerLimits limits = {}, const Auditing* auditing = nullptr) {
    ServerOptions options;
    options.port = 0;
    options.certificate = *authority_.issue_server({"localhost", "127.0.0.1"}, validity());
    options.client_ca_pem = authority_.certificate_pem();
    options.limits = limits;
    server_ = make_api_server(std::move(options), {io_,
                                                   harness_.registry(),
                                                   *authenticator_,
                                                   *authorizer_,
                                                   tokens_,
                                                   authority_,
                                                   harness_.clock(),
                                                   rng_,
                                                   {{"store", [] { return std::nullopt; }}},
                                                   auditing});
    const Result<void> started = server_->start();
    CHECK_MSG(started.has_value(), started ? "" : started.error().message);
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~TestServer() {
    stop();
    work_.reset();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    std::promise<void> done;
    server_->stop([&] { done.set_value(); });
    done.get_future().wait();
  }

  Harness& harness() { return harness_; }
  ApiServer& server() { return *server_; }
  const CertificateAuthority& authority() const { return authority_; }

  HttpsClient admin() { return client_as("kubernetes-admin", {"system:masters"}); }
  HttpsClient node(const std::string& name) {
    return client_as("system:node:" + name, {"system:nodes"});
  }
  HttpsClient client_as(const std::string& user, std::vector<std::string> groups) {
    const CertifiedKey key = *authority_.issue_client({user, std::move(groups)}, validity());
    return HttpsClient(server_->port(), authority_.certificate_pem(), &key);
  }
  HttpsClient anonymous() {
    return HttpsClient(server_->port(), authority_.certificate_pem(), nullptr);
  }

 private:
  // Certificates are judged by OpenSSL's own clock.
  static Validity validity() {
    const WallTime now = WallTime::from_unix_seconds(
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
    return {now - 1h, now + 24h};
  }
  static std::shared_ptr<const JwtSigner> new_signer() {
    return *JwtSigner::make(*openssl::to_pem(openssl::new_p256_key()->get()));
  }

  Harness harness_;
  SeededRng rng_{7};
  CertificateAuthority authority_ = *CertificateAuthority::create("test-ca", validity());
  ServiceAccountTokens tokens_{new_signer(), {}, harness_.clock(), rng_};
  std::unique_ptr<Authenticator> authenticator_ =
      make_authenticator(tokens_, registry_lookup(harness_.registry()), harness_.clock());
  NodeGraph graph_{object_history(harness_.registry(), {kinds::kPod})};
  std::unique_ptr<Authorizer> authorizer_ = make_rbac_authorizer(
      make_built_in_authorizer(registry_lookup(harness_.registry()), graph_),
      object_history(harness_.registry(), {kinds::kRole, kinds::kClusterRole, kinds::kRoleBinding,
                                           kinds::kClusterRoleBinding}));
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<ApiServer> server_;
  std::vector<std::thread> threads_;
  bool stopped_ = false;
};

}  // namespace krater::api::testing
