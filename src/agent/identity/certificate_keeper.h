// Keeps a node's certificate fresh: after 70 to 90 % of its life it has a new key certified and
// hands both over, without a restart. On the client's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/identity/certificate_asker.h"
#include "base/env.h"
#include "base/time.h"

namespace krater::agent {

// When a certificate came into use, and when it ends.
struct CertificateLife {
  WallTime since, until;
};

struct KeyAndRequest {
  std::string key_pem, request_pem;
};

struct CertificateKeeperDeps {
  client::ObjectClient& client;  // presents the certificate in use
  Loop& loop;
  const WallClock& clock;
  Rng& rng;
  // A fresh key.
  std::function<Result<KeyAndRequest>()> make_request;
  // When a certificate (PEM) ends.
  std::function<Result<WallTime>(const std::string& certificate_pem)> end_of;
  // Stores both and presents them from now on.
  std::function<Result<void>(const std::string& key_pem, const std::string& certificate_pem)> adopt;
};

class CertificateKeeper {
 public:
  explicit CertificateKeeper(CertificateKeeperDeps deps) : deps_(std::move(deps)) {}
  ~CertificateKeeper();
  CertificateKeeper(const CertificateKeeper&) = delete;
  CertificateKeeper& operator=(const CertificateKeeper&) = delete;

  void start(CertificateLife life);

 private:
  void sleep(Duration delay);
  void renew();
  void answered(const std::string& key_pem, const Result<std::string>& certificate_pem);
  Result<void> take(const std::string& key_pem, const Result<std::string>& certificate_pem);

  CertificateKeeperDeps deps_;
  std::unique_ptr<CertificateAsker> asker_;
  Loop::TimerId timer_ = 0;
  Duration backoff_{};
};

}  // namespace krater::agent
