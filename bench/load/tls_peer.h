// The least a server can do: TLS, one connection at a time, every request answered with the same
// bytes, which lie ready in one piece; only /metrics tells the processor time of its thread. What a
// list is measured against. Runs on its own thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/tls.h"

namespace krater::bench {

class TlsPeer {
 public:
  // Shows `identity`'s certificate as its own; clients must not verify it.
  TlsPeer(const runtime::TlsIdentity& identity, std::string body);
  ~TlsPeer();
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  std::string url() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krater::bench
