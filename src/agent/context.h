// What every part of one node's agent is given. Built by Agent; plain references, all on the
// agent's loop.
#pragma once

#include <functional>
#include <string>

#include "agent/runtime.h"
#include "base/env.h"
#include "base/http.h"
#include "client/event_recorder.h"
#include "client/object_client.h"

namespace krater::agent {

class ContentBuilder;
class GrpcHealth;
class TcpDialer;

struct NodeFacts {
  std::string name, ip;
  std::int64_t cpu_milli = 0, memory_bytes = 0, ephemeral_bytes = 0;
  std::int64_t pods = 110;
};

struct Context {
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  Rng& rng;
  Runtime& runtime;
  client::EventRecorder& events;
  const NodeFacts& node;
  HttpClient* http = nullptr;  // probes and hooks; null with the simulated runtime
  TcpDialer* dialer = nullptr;
  GrpcHealth* grpc = nullptr;
  ContentBuilder* content = nullptr;  // environments and volumes; null with the simulated runtime
  std::function<void(const std::string& uid)>
      pod_over;  // the worker may be dropped (posted, not called from inside)
};

}  // namespace krater::agent
