#include "sim/network.h"

#include <utility>

#include "api/local_client/local_client.h"
#include "base/check.h"

namespace krater::sim {
namespace {

constexpr Duration kRefusedAfter = 20ms;

}  // namespace

void Network::connect(api::Registry& server) {
  CHECK(server_ == nullptr);
  server_ = &server;
  for (RemoteClient* one : clients_) one->connect();
}

void Network::disconnect() {
  if (std::exchange(server_, nullptr) == nullptr) return;
  for (RemoteClient* one : clients_) one->disconnect();
}

struct RemoteClient::Feed {
  client::WatchQuery query;
  client::WatchHandlers handlers;
  std::unique_ptr<client::Subscription> now;  // at the server that is there
};

struct RemoteClient::Handle final : client::Subscription {
  Handle(RemoteClient& client, std::shared_ptr<Feed> feed)
      : owner(client), alive(client.alive_), mine(std::move(feed)) {}
  ~Handle() override {
    mine->now.reset();
    if (*alive) owner.feeds_.remove(mine);
  }
  RemoteClient& owner;
  std::shared_ptr<bool> alive;
  std::shared_ptr<Feed> mine;
};

RemoteClient::RemoteClient(Network& network, Loop& lane, std::string user)
    : network_(network), lane_(lane), user_(std::move(user)) {
  network_.clients_.push_back(this);
  if (network_.server() != nullptr) connect();
}

RemoteClient::~RemoteClient() {
  *alive_ = false;
  network_.clients_.remove(this);
  for (const auto& feed : feeds_) feed->now.reset();
}

void RemoteClient::connect() {
  local_ = api::make_local_client(*network_.server(), lane_, user_);
  for (const auto& feed : feeds_) feed->now = local_->watch(feed->query, feed->handlers);
}

void RemoteClient::disconnect() {
  for (const auto& feed : feeds_) feed->now.reset();
  local_.reset();
  auto broken = std::exchange(under_way_, {});
  for (auto& [id, done] : broken) refuse(std::move(done), Duration(0));
}

void RemoteClient::refuse(client::Callback<ObjectPtr> done, Duration after) {
  lane_.after(after, [alive = alive_, done = std::move(done)] {
    if (*alive) done(make_error(Code::Unavailable, "the server cannot be reached"));
  });
}

client::Callback<ObjectPtr> RemoteClient::under_way(client::Callback<ObjectPtr> done) {
  const std::uint64_t id = ++last_request_;
  under_way_.emplace(id, std::move(done));
  return [this, id](Result<ObjectPtr> answer) {
    auto mine = under_way_.extract(id);
    CHECK(!mine.empty());  // a broken connection drops the client that would call here
    mine.mapped()(std::move(answer));
  };
}

void RemoteClient::get(const Kind& kind, const std::string& name_space, const std::string& name,
                       client::Callback<ObjectPtr> done) {
  if (!local_) return refuse(std::move(done), kRefusedAfter);
  local_->get(kind, name_space, name, under_way(std::move(done)));
}

void RemoteClient::write(client::Write write, client::Callback<ObjectPtr> done) {
  if (!local_) return refuse(std::move(done), kRefusedAfter);
  // What a deletion answers with may be the last version.
  const bool stays = !std::holds_alternative<client::DeleteWrite>(write);
  local_->write(std::move(write),
                under_way([this, stays, done = std::move(done)](const Result<ObjectPtr>& answer) {
                  if (stays && answer) network_.acknowledged_(**answer);
                  done(answer);
                }));
}

void RemoteClient::transact(std::vector<client::Write>,
                            client::Callback<std::vector<ObjectPtr>> done) {
  lane_.post([alive = alive_, done = std::move(done)] {
    if (*alive) done(make_error(Code::MethodNotAllowed, "no transactions from outside"));
  });
}

std::unique_ptr<client::Subscription> RemoteClient::watch(client::WatchQuery query,
                                                          client::WatchHandlers handlers) {
  auto feed = std::make_shared<Feed>(Feed{std::move(query), std::move(handlers), nullptr});
  if (local_) feed->now = local_->watch(feed->query, feed->handlers);
  feeds_.push_back(feed);
  return std::make_unique<Handle>(*this, std::move(feed));
}

}  // namespace krater::sim
