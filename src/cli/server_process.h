// The server side, composed: store, registry, API, controllers, scheduler. Built in dependency
// order, stopped in reverse. Used by `krater server` and `krater dev`.
#pragma once

#include <memory>
#include <string>

#include "api/auth/pki.h"
#include "base/result.h"
#include "cli/options.h"

namespace krater::cli {

class ServerProcess {
 public:
  // Blocks until the API answers; DATA/kubeconfig is there then. The message of an error is for the
  // user.
  static Result<std::unique_ptr<ServerProcess>> start(const ServerOptions& options);
  ~ServerProcess();

  // Blocks until connections have ended (within seconds) and everything acknowledged is on disk.
  // Idempotent.
  void stop();
  const std::string& url() const;
  const api::Pki& pki() const;

 private:
  struct State;
  explicit ServerProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace krater::cli
