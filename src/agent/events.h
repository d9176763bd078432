// Tells users what happened to their pods: Event objects, equal ones counted up instead of
// repeated. Best effort: a failed write is logged and forgotten. Lives on the agent's loop.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::agent {

class EventRecorder {
 public:
  enum class Type { Normal, Warning };

  EventRecorder(client::ObjectClient& client, Loop& loop, const WallClock& clock, Rng& rng,
                std::string host)
      : client_(client), loop_(loop), clock_(clock), rng_(rng), host_(std::move(host)) {}

  // `field_path`: "spec.containers{main}" for what concerns one container, or empty.
  void record(const Object& about, Type type, std::string_view reason, std::string_view message,
              std::string_view field_path = {});

 private:
  using Same = std::tuple<std::string, std::string, std::string,
                          std::string>;  // uid, field, reason, message
  struct Written {
    std::string name, name_space;
    std::int64_t count = 1;
  };

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  Rng& rng_;
  std::string host_;
  std::map<Same, Written> written_;
};

}  // namespace krater::agent
