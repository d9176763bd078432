// Namespaces: what every namespace has from the start, and what must go before it can go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/loop/controller_loop.h"

namespace krater::controllers {

// Deletes all content of a namespace that is being deleted (pods first, then everything else), says
// in its conditions what remains, and finalizes it when nothing does.
class NamespaceController : public Reconciler {
 public:
  // For kinds that come up later: hand the result to ControllerLoop::add_interest(name(), …). Of a
  // kind that is known it is the version that is used from now on; the result is not needed.
  virtual Interest add_kind(const Kind& kind) = 0;
  // It is not served any more.
  virtual void remove_kind(const Kind& kind) = 0;
};

struct NamespaceDeps {
  client::ObjectClient&
      client;  // lists a namespace's Events when it goes: nobody keeps them in a cache
  Enqueue wake;
  std::vector<Kind> kinds;  // all that are served; cluster-scoped ones and Events are left out here
};
std::unique_ptr<NamespaceController> make_namespace_controller(NamespaceDeps deps);

// Keeps ServiceAccount `default` and ConfigMap `kube-root-ca.crt` in every namespace. Without a CA
// no ConfigMap.
std::unique_ptr<Reconciler> make_namespace_defaults_controller(std::string ca_pem);

}  // namespace krater::controllers
