// Gets what pods refer to from the API: ConfigMaps and Secrets by name, bound tokens of service
// accounts, claims with their volumes. Tokens are kept and renewed when a fifth of their time is
// left. On the agent's loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/content/sources.h"
#include "agent/pod/spec.h"
#include "base/env.h"
#include "client/object_client.h"

namespace krater::agent {

class SourceFetcher {
 public:
  SourceFetcher(client::ObjectClient& client, Loop& loop, const WallClock& clock)
      : client_(client), loop_(loop), clock_(clock) {}

  // What does not exist is left out; any other failure is the error of the whole. Never answers
  // from inside the call.
  void fetch(const PodSpec& pod, Needs needs, std::function<void(Result<Sources>)> done);
  void forget(const std::string& uid) { tokens_.erase(uid); }

 private:
  struct Token {
    std::string text;
    WallTime renew_at;
  };
  struct Gathering;

  void get(const Kind& kind, const PodSpec& pod, const std::string& name,
           const std::shared_ptr<Gathering>& gathering);
  void claim(const PodSpec& pod, const std::string& name,
             const std::shared_ptr<Gathering>& gathering);
  void volume(const std::string& claim, const std::string& name,
              const std::shared_ptr<Gathering>& gathering);
  void token(const PodSpec& pod, const TokenNeed& need,
             const std::shared_ptr<Gathering>& gathering);

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  std::map<std::string, std::map<TokenNeed, Token>> tokens_;  // by pod uid
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
