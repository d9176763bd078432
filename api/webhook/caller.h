// Asks webhooks over the network and waits for none of them: what an answer comes to is handed on
// when it is there. Called on any thread; lives and answers on one loop, where preparing a write
// anew is allowed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/webhook/hook.h"
#include "api/webhook/hook_stats.h"
#include "api/webhook/ledger.h"
#include "base/env.h"
#include "base/http.h"

namespace krater::api {

// A POST to a webhook.
struct HookPost {
  HookAddress address;
  std::string url;  // address.url with its query
  std::string body;
  Duration timeout{};  // the whole exchange
  std::size_t max_reply_bytes = kMaxHookReplyBytes;
};

// HTTPS, as src/cli has it. Called on the loop, answers on it, exactly once while it lives.
class HookTransport {
 public:
  using Done = std::function<void(Result<HttpResponse>)>;
  virtual ~HookTransport() = default;
  virtual void post(HookPost post, Done done) = 0;
};

class HookCaller {
 public:
  using Done = std::function<void(HookVerdict)>;
  virtual ~HookCaller() = default;
  // `limit`: what is left of the request's time; the webhook's own timeout may be shorter.
  virtual void call(const HookQuestion& question, Duration limit, Done done) = 0;
  // The process is about to end: what is asked counts as failed now, and so does whatever is asked
  // afterwards. Any thread.
  virtual void give_up() = 0;
};

// All must outlive it.
std::unique_ptr<HookCaller> make_hook_caller(Loop& loop, HookTransport& transport, Rng& rng,
                                             HookStats& stats);

}  // namespace krater::api
