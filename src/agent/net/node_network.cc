#include "agent/net/node_network.h"

#include "agent/net/command.h"
#include "base/log.h"

namespace krater::agent {
namespace {

// Changes come in bursts; one transaction serves a burst.
constexpr Duration kSettle = std::chrono::milliseconds(50);
constexpr Duration kRetry = std::chrono::seconds(5);

}  // namespace

NodeNetwork::NodeNetwork(client::ObjectClient& client, Loop& loop, boost::asio::io_context& io,
                         Rng& rng, NodeNetworkSettings settings)
    : loop_(loop),
      io_(io),
      rng_(rng),
      settings_(std::move(settings)),
      cache_(client),
      zone_(cache_, settings_.domain) {}

NodeNetwork::~NodeNetwork() {
  *alive_ = false;
  if (timer_ != 0) loop_.cancel(timer_);
}

Result<void> NodeNetwork::start() {
  TRY_ASSIGN(server_, dns::start_server(io_, rng_, zone_, settings_.dns));
  if (settings_.api) {
    settings_.api->listen = settings_.dns.address;
    TRY_ASSIGN(api_, start_api_forwarder(io_, *settings_.api));
    settings_.rules.api = ApiTarget{settings_.dns.address, api_->port()};
  }
  const auto on_change = [this](const ObjectPtr&, const ObjectPtr&) { changed(); };
  cache_.on_change(kinds::kService, on_change);
  cache_.on_change(kinds::kEndpointSlice, on_change);
  cache_.add({kinds::kService});
  cache_.add({kinds::kEndpointSlice});
  cache_.when_synced([this] { changed(); });
  return {};
}

void NodeNetwork::changed() {
  if (!settings_.forward || stopped_ || timer_ != 0) return;
  timer_ = loop_.after(kSettle, [this] {
    timer_ = 0;
    apply();
  });
}

void NodeNetwork::apply() {
  if (stopped_ || !cache_.synced()) return;
  if (applying_) {
    again_ = true;
    return;
  }
  std::string rules = service_rules(cache_, settings_.rules);
  if (rules == applied_) return;
  applying_ = true;
  run_command(io_, {"nft", "-f", "-"}, rules,
              [this, alive = alive_, rules](Result<CommandOutcome> outcome) {
                if (!*alive) return;
                applying_ = false;
                const bool done = outcome && outcome->exit_code == 0;
                if (done) {
                  applied_ = rules;
                } else {
                  log::warn("agent.services",
                            {{"error", outcome ? outcome->output : outcome.error().message}});
                  if (timer_ == 0) {
                    timer_ = loop_.after(kRetry, [this] {
                      timer_ = 0;
                      apply();
                    });
                  }
                }
                if (std::exchange(again_, false)) apply();
              });
}

void NodeNetwork::stop(bool pods_stay, std::function<void()> done) {
  stopped_ = true;
  server_.reset();
  api_.reset();
  if (pods_stay || !settings_.forward) return loop_.post(std::move(done));
  run_command(io_, {"nft", "-f", "-"}, no_service_rules(settings_.rules),
              [done](const Result<CommandOutcome>&) { done(); });
}

}  // namespace krater::agent
