// DIR/node-pki of an agent: the authority it trusts (ca.crt), its certificate and key (node.pem,
// one file, so that a crash leaves both of one pair), and the key of a request that is not answered
// yet (pending.key). Files are 0600, each written as a whole.
#pragma once

#include <optional>
#include <string>

#include "agent/identity/certificate_keeper.h"
#include "base/result.h"
#include "runtime/tls.h"

namespace krater::cli {

struct NodeCredentials {
  runtime::TlsIdentity identity;
  agent::CertificateLife life;
  // False: it cannot be renewed by itself (that of many simulated nodes, that of `krater dev`).
  bool renews = false;
};

class CredentialFiles {
 public:
  explicit CredentialFiles(const std::string& data_dir) : directory_(data_dir + "/node-pki") {}
  const std::string& directory() const { return directory_; }

  // Nothing when there are none, or when the certificate has ended.
  std::optional<NodeCredentials> load(WallTime now) const;
  Result<void> store(const runtime::TlsIdentity& identity) const;

  // The key whose request waits for an answer; empty: none.
  std::string pending_key() const;
  Result<void> keep_pending_key(const std::string& key_pem) const;
  void drop_pending_key() const;

 private:
  std::string directory_;
};

}  // namespace krater::cli
