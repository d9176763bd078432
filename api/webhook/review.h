// AdmissionReview (admission.k8s.io v1 and v1beta1): the question as text, the answer as a verdict.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/webhook/hook.h"
#include "base/http.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// Answers beyond this are not read.
inline constexpr std::size_t kMaxHookReplyBytes = 3 << 20;

// What became of asking one webhook.
struct HookVerdict {
  enum class Outcome { Allowed, Denied, Failed };
  Outcome outcome = Outcome::Failed;
  Json status{};        // Denied: the Status that the client is answered, in the webhook's words
  std::string failure;  // Failed: what follows `failed calling webhook "…": `
  int code = 200;       // as metrics count it
  Json patch{};         // of operations; null: it changes nothing
  std::vector<std::string> warnings{};
  std::vector<std::pair<std::string, std::string>> annotations{};  // for the audit log

  static HookVerdict failed(std::string why, int code);
};

// `request`: an AdmissionRequest without its uid, as JSON text.
std::string review_text(std::string_view version, std::string_view uid, std::string_view request);

// What a webhook has answered to the review `uid`. `url`: as it was asked, for messages.
HookVerdict read_verdict(const Hook& hook, std::string_view uid, const HttpResponse& reply);
// The transport has failed.
HookVerdict unreached(const std::string& url, const Error& error);

// A reply of a status that is no success, in the words of Kubernetes' clients.
std::string failure_of(const HttpResponse& reply);

}  // namespace krater::api
