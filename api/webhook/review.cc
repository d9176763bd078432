#include "api/webhook/review.h"

#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kGroup = "admission.k8s.io/";

HookVerdict not_valid(const std::string& why) {
  return HookVerdict::failed("received invalid webhook response: " + why, 503);
}

// "admission.k8s.io/v1, Kind=AdmissionReview"
std::string type_text(std::string_view api_version, std::string_view kind) {
  const std::string group_version = api_version.find('/') == std::string_view::npos
                                        ? "/" + std::string(api_version)
                                        : std::string(api_version);
  return group_version + ", Kind=" + std::string(kind);
}

// Never below 400, never a success, and it says whose word it is.
Json denial(const Hook& hook, const Json* result) {
  Json out = result != nullptr && result->is_object() ? *result : Json(JsonObject());
  JsonObject& status = out.get_object();
  std::int64_t code = int_at(out, {"code"}).value_or(0);
  if (code < 400 || code > 999) code = 400;
  status["code"] = code;
  const std::string state = text_at(out, {"status"});
  if (state.empty() || state == "Success") status["status"] = "Failure";
  const std::string by = "admission webhook " + go_quoted(hook.name) + " denied the request";
  const std::string message = text_at(out, {"message"}), reason = text_at(out, {"reason"});
  status["message"] = !message.empty()  ? by + ": " + message
                      : !reason.empty() ? by + ": " + reason
                                        : by + " without explanation";
  return out;
}

Result<Json> decoded_patch(const std::string& text) {
  const std::optional<std::string> patch = base64_decode(text);
  if (!patch) return make_error(Code::BadRequest, "illegal base64 data");
  TRY_ASSIGN(Json operations, parse_json(*patch));
  if (operations.is_null()) return operations;
  if (!operations.is_array()) {
    return make_error(Code::BadRequest,
                      "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  if (operations.get_array().empty()) return Json();
  return operations;
}

// What contradicts itself; "" when nothing does.
std::string patch_problem(const Hook& hook, const Json& response) {
  const bool patched = !text_at(response, {"patch"}).empty();
  const bool typed = string_at(response, {"patchType"}).has_value();
  if (hook.kind == HookKind::Validating) {
    if (hook.review_version != "v1") return "";
    if (patched) return "validating webhook may not return response.patch";
    return typed ? "validating webhook may not return response.patchType" : "";
  }
  if (hook.review_version != "v1") return "";
  if (patched && !typed) return "webhook returned response.patch but not response.patchType";
  if (!patched && typed) return "webhook returned response.patchType but not response.patch";
  if (typed && text_at(response, {"patchType"}).empty())
    return "webhook returned invalid response.patchType of \"\"";
  return "";
}

void take_notes(const Json& response, HookVerdict& out) {
  if (const JsonArray* warnings = array_at(response, {"warnings"})) {
    for (const Json& warning : *warnings) {
      if (warning.is_string()) out.warnings.emplace_back(view(warning.get_string()));
    }
  }
  if (const JsonObject* annotations = object_at(response, {"auditAnnotations"})) {
    for (const auto& entry : *annotations) {
      if (entry.value().is_string())
        out.annotations.emplace_back(entry.key(), view(entry.value().get_string()));
    }
  }
}

HookVerdict judged(const Hook& hook, const Json& response) {
  HookVerdict out;
  take_notes(response, out);
  if (!bool_at(response, {"allowed"}).value_or(false)) {
    out.outcome = HookVerdict::Outcome::Denied;
    out.status = denial(hook, find(response, {"status"}));
    out.code = static_cast<int>(int_at(out.status, {"code"}).value_or(400));
    return out;
  }
  out.outcome = HookVerdict::Outcome::Allowed;
  const std::string patch = text_at(response, {"patch"});
  if (hook.kind == HookKind::Validating || patch.empty()) return out;
  Result<Json> operations = decoded_patch(patch);
  if (!operations) {
    return HookVerdict::failed(
        "received undecodable patch in webhook response: " + operations.error().message, 503);
  }
  const std::string type = text_at(response, {"patchType"});
  if (hook.review_version == "v1" && type != "JSONPatch" && !operations->is_null())
    return HookVerdict::failed("unsupported patch type " + go_quoted(type), 400);
  out.patch = *std::move(operations);
  return out;
}

}  // namespace

HookVerdict HookVerdict::failed(std::string why, int code) {
  HookVerdict out;
  out.failure = std::move(why);
  out.code = code;
  return out;
}

std::string review_text(std::string_view version, std::string_view uid, std::string_view request) {
  std::string out = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/)";
  out += version;
  out += R"(","request":{"uid":")";
  out += uid;
  out += "\",";
  out += request.substr(1);
  out += '}';
  return out;
}

std::string failure_of(const HttpResponse& reply) {
  const std::string body(trim(reply.body));
  switch (reply.status) {
    case 401:
      return "the server has asked for the client to provide credentials";
    case 403:
      return body.empty() ? "forbidden" : body;
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 406:
      return "the server was unable to respond with a content type that the client supports";
    case 409:
      return "the server reported a conflict";
    case 415:
      return "the server was unable to respond with a content type that the client supports";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be "
             "processing the request";
    default:
      break;
  }
  if (reply.status >= 500) {
    return "an error on the server (" + go_quoted(body.empty() ? "unknown" : body) +
           ") has prevented the request from succeeding";
  }
  return "the server rejected our request for an unknown reason";
}

HookVerdict read_verdict(const Hook& hook, std::string_view uid, const HttpResponse& reply) {
  if (reply.status < 200 || reply.status > 206)
    return HookVerdict::failed("failed to call webhook: " + failure_of(reply), reply.status);
  const Result<Json> review = parse_json(reply.body);
  if (!review) {
    return HookVerdict::failed(
        "failed to call webhook: couldn't get version/kind; json parse error: " +
            review.error().message,
        503);
  }
  const std::string api_version = text_at(*review, {"apiVersion"}),
                    kind = text_at(*review, {"kind"});
  if (kind.empty()) {
    return HookVerdict::failed(
        "failed to call webhook: Object 'Kind' is missing in '" + reply.body.substr(0, 512) + "'",
        503);
  }
  const Json* response = find(*review, {"response"});
  if (response == nullptr || !response->is_object())
    return not_valid("webhook response was absent");
  if (hook.review_version == "v1") {
    const std::string answered = text_at(*response, {"uid"});
    if (answered != uid) {
      return not_valid("expected response.uid=" + go_quoted(uid) + ", got " + go_quoted(answered));
    }
    const std::string wanted = std::string(kGroup) + "v1";
    if (api_version != wanted || kind != "AdmissionReview") {
      return not_valid("expected webhook response of " + type_text(wanted, "AdmissionReview") +
                       ", got " + type_text(api_version, kind));
    }
  }
  if (const std::string problem = patch_problem(hook, *response); !problem.empty())
    return not_valid(problem);
  return judged(hook, *response);
}

HookVerdict unreached(const std::string& url, const Error& error) {
  const std::string why = error.code == Code::Timeout ? "context deadline exceeded" : error.message;
  return HookVerdict::failed("failed to call webhook: Post " + go_quoted(url) + ": " + why, 503);
}

}  // namespace krater::api
