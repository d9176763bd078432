// What lies between the server and those who talk to it from outside: agents and users. It is
// there, or it is not; who had asked something when the server went learns that the connection is
// lost. A RemoteClient outlives servers: its watches go on with the next one by listing again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/registry/registry.h"
#include "base/env.h"
#include "client/object_client.h"

namespace krater::sim {

class RemoteClient;

class Network {
 public:
  // `acknowledged`: shown each object that a writer outside was told is written.
  explicit Network(std::function<void(const Object&)> acknowledged)
      : acknowledged_(std::move(acknowledged)) {}
  api::Registry* server() const { return server_; }
  void connect(api::Registry& server);
  // Before the server goes.
  void disconnect();

 private:
  friend class RemoteClient;
  const std::function<void(const Object&)> acknowledged_;
  api::Registry* server_ = nullptr;
  std::list<RemoteClient*> clients_;  // in order of arrival
};

// An ObjectClient on `lane`. Without transact(), as over HTTP.
class RemoteClient final : public client::ObjectClient {
 public:
  RemoteClient(Network& network, Loop& lane, std::string user);
  ~RemoteClient() override;
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  void get(const Kind& kind, const std::string& name_space, const std::string& name,
           client::Callback<ObjectPtr> done) override;
  void write(client::Write write, client::Callback<ObjectPtr> done) override;
  void transact(std::vector<client::Write> writes,
                client::Callback<std::vector<ObjectPtr>> done) override;
  std::unique_ptr<client::Subscription> watch(client::WatchQuery query,
                                              client::WatchHandlers handlers) override;

 private:
  friend class Network;
  struct Feed;
  struct Handle;
  void connect();
  void disconnect();
  // The callback for the server's client; its twin waits here for the connection to break.
  client::Callback<ObjectPtr> under_way(client::Callback<ObjectPtr> done);
  void refuse(client::Callback<ObjectPtr> done, Duration after);

  Network& network_;
  Loop& lane_;
  const std::string user_;
  std::unique_ptr<client::ObjectClient> local_;  // of the server that is there now
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, client::Callback<ObjectPtr>> under_way_;
  std::list<std::shared_ptr<Feed>> feeds_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::sim
