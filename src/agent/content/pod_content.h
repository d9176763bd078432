// ContentBuilder for real nodes: fetches, works out and writes what containers need. On the agent's
// loop.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/content/builder.h"
#include "agent/content/env.h"
#include "agent/content/fetch.h"
#include "agent/content/sandbox_files.h"
#include "agent/content/volumes.h"
#include "agent/context.h"

namespace krater::agent {

struct PodContentSettings {
  NodeFacts node;
  DnsSettings dns;
  // All services known now (for their environment variables); may be empty.
  std::function<std::vector<ObjectPtr>()> services;
  Environment api;  // when there are no services
};

class PodContent final : public ContentBuilder {
 public:
  PodContent(client::ObjectClient& client, Loop& loop, const WallClock& clock,
             const Runtime& runtime, PodContentSettings settings)
      : fetcher_(client, loop, clock), runtime_(runtime), settings_(std::move(settings)) {}

  SandboxSpec sandbox(const PodSpec& pod) override;
  void build(const PodSpec& pod, const PodView& view, const ContainerSpec& container,
             const PodState& state, std::function<void(Result<ContainerRun>)> done) override;
  void refresh(const PodSpec& pod, const PodView& view, const PodState& state) override;
  std::string over_limit(const PodSpec& pod) override;
  void forget(const std::string& uid) override;

 private:
  Result<ContainerRun> make_run(const PodSpec& pod, const Json& document,
                                const ContainerSpec& container, const PodState& state,
                                const Sources& sources);
  Result<std::vector<Volume>> write_volumes(const PodSpec& pod, const PodFacts& facts,
                                            const Sources& sources);

  SourceFetcher fetcher_;
  const Runtime& runtime_;
  PodContentSettings settings_;
  std::set<std::string> refreshing_;  // uids with a fetch under way
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
