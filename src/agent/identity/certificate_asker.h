// Asks the cluster for a node's client certificate, as kubelets do: posts a
// CertificateSigningRequest and waits until it is approved and signed. On the client's loop; one
// question at a time. Dropping it ends the wait.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::agent {

class CertificateAsker {
 public:
  // The certificate in PEM. Code::Forbidden when it was denied, Code::Invalid when it could not be
  // signed, Code::Timeout when nobody decided in time; what the API answers otherwise.
  using Done = std::function<void(Result<std::string>)>;

  CertificateAsker(client::ObjectClient& client, Loop& loop, Duration patience)
      : client_(client), loop_(loop), patience_(patience) {}
  ~CertificateAsker();
  CertificateAsker(const CertificateAsker&) = delete;
  CertificateAsker& operator=(const CertificateAsker&) = delete;

  // A request of this name that is there already is taken for ours: the name derives from the key.
  void ask(const std::string& name, const std::string& request_pem, Done done);

 private:
  void look();
  void look_later();
  void judge(const Result<ObjectPtr>& found);
  void finish(Result<std::string> result);

  client::ObjectClient& client_;
  Loop& loop_;
  Duration patience_;
  std::string name_;
  Done done_;
  SteadyTime deadline_{};
  Duration pause_{};
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
