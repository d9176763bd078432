#include "api/registry/status.h"

#include <array>

#include "api/admission/causes.h"
#include "base/check.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace krater::api {
namespace {

struct CodeRow {
  Code code;
  int http;
  std::string_view reason;
};
constexpr std::array kCodes{
    CodeRow{Code::BadRequest, 400, "BadRequest"},
    CodeRow{Code::Unauthorized, 401, "Unauthorized"},
    CodeRow{Code::Forbidden, 403, "Forbidden"},
    CodeRow{Code::NotFound, 404, "NotFound"},
    CodeRow{Code::MethodNotAllowed, 405, "MethodNotAllowed"},
    CodeRow{Code::NotAcceptable, 406, "NotAcceptable"},
    CodeRow{Code::AlreadyExists, 409, "AlreadyExists"},
    CodeRow{Code::Conflict, 409, "Conflict"},
    CodeRow{Code::Expired, 410, "Expired"},
    CodeRow{Code::Invalid, 422, "Invalid"},
    CodeRow{Code::TooLarge, 413, "RequestEntityTooLarge"},
    CodeRow{Code::UnsupportedMedia, 415, "UnsupportedMediaType"},
    CodeRow{Code::TooManyRequests, 429, "TooManyRequests"},
    CodeRow{Code::Timeout, 504, "Timeout"},
    CodeRow{Code::Unavailable, 503, "ServiceUnavailable"},
    CodeRow{Code::Internal, 500, "InternalError"},
};

constexpr bool rows_stand_at_their_code() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  }
  return kCodes.size() == static_cast<std::size_t>(Code::Internal) + 1;
}
static_assert(rows_stand_at_their_code());

Json status_head(std::string_view status) {
  JsonObject out;
  out["kind"] = "Status";
  out["apiVersion"] = "v1";
  out["metadata"] = JsonObject();
  out["status"] = status;
  return out;
}

Json cause_json(const Cause& cause) {
  JsonObject out;
  if (!cause.reason.empty()) out["reason"] = cause.reason;
  if (!cause.message.empty()) out["message"] = cause.message;
  if (!cause.field.empty()) out["field"] = cause.field;
  return out;
}

JsonObject details_of(const Error& error) {
  JsonObject out;
  if (error.subject) {
    if (!error.subject->name.empty()) out["name"] = error.subject->name;
    if (!error.subject->group.empty()) out["group"] = error.subject->group;
    if (!error.subject->kind.empty()) out["kind"] = error.subject->kind;
    if (!error.subject->uid.empty()) out["uid"] = error.subject->uid;
  }
  if (!error.causes.empty()) {
    JsonArray causes;
    for (const Cause& cause : error.causes) causes.push_back(cause_json(cause));
    out["causes"] = std::move(causes);
  }
  if (error.retry_after_seconds) out["retryAfterSeconds"] = *error.retry_after_seconds;
  return out;
}

// The reason of the cause that holds a whole Status; no Kubernetes reason looks like it.
constexpr std::string_view kVerbatim = "krater.io/verbatim";

const Cause* verbatim_words(const Error& error) {
  for (const Cause& cause : error.causes) {
    if (cause.reason == kVerbatim) return &cause;
  }
  return nullptr;
}

Error about(Code code, const Kind& kind, std::string_view name, std::string message) {
  Error out = make_error(code, std::move(message));
  out.subject = ErrorSubject{kind.group, kind.plural, std::string(name)};
  return out;
}

std::string named(const Kind& kind, std::string_view name) {
  return kind.resource() + " \"" + std::string(name) + "\"";
}

std::string list_of(const std::vector<Cause>& causes) {
  if (causes.size() == 1) return text_of(causes.front());
  std::vector<std::string> texts;
  for (const Cause& cause : causes) texts.push_back(text_of(cause));
  return "[" + join(texts, ", ") + "]";
}

}  // namespace

int http_status(Code code) {
  return kCodes[static_cast<std::size_t>(code)].http;
}

std::string_view status_reason(Code code) {
  return kCodes[static_cast<std::size_t>(code)].reason;
}

int http_status(const Error& error) {
  const Cause* words = verbatim_words(error);
  if (words == nullptr) return http_status(error.code);
  return static_cast<int>(int_at(*parse_json(words->message), {"code"}).value_or(400));
}

// For components of this process the code is one that has no other meaning: whoever deletes must
// not take a webhook's 404 for an object that is gone, nor its 409 for a lost race.
Error verbatim(const Json& status) {
  const std::int64_t http = int_at(status, {"code"}).value_or(400);
  Code code = http >= 500 ? Code::Internal : Code::Forbidden;
  for (const Code exact : {Code::BadRequest, Code::Unauthorized, Code::TooLarge, Code::Invalid,
                           Code::TooManyRequests}) {
    if (http == http_status(exact)) code = exact;
  }
  Error out = make_error(code, text_at(status, {"message"}));
  out.causes.push_back(Cause{std::string(kVerbatim), to_json(status), ""});
  if (const auto seconds = int_at(status, {"details", "retryAfterSeconds"});
      seconds && *seconds > 0)
    out.retry_after_seconds = static_cast<int>(*seconds);
  return out;
}

namespace {

// What a client sent comes back in messages, and need not be text.
void make_text(Json& value) {
  if (value.is_string()) {
    value = valid_utf8(view(value.get_string()));
  } else if (value.is_array()) {
    for (Json& item : value.get_array()) make_text(item);
  } else if (value.is_object()) {
    for (auto& entry : value.get_object()) make_text(entry.value());
  }
}

}  // namespace

Json failure_status(const Error& error) {
  if (const Cause* words = verbatim_words(error)) {
    Json out = status_head("Failure");
    const Json said = *parse_json(words->message);
    for (const char* member : {"status", "message", "reason", "details", "code"}) {
      if (const Json* value = find(said, {member})) out.get_object()[member] = *value;
    }
    return out;
  }
  Json out = status_head("Failure");
  JsonObject& status = out.get_object();
  if (!error.continue_token.empty())
    status["metadata"].get_object()["continue"] = error.continue_token;
  status["message"] = error.message;
  status["reason"] = status_reason(error.code);
  JsonObject details = details_of(error);
  if (!details.empty()) status["details"] = std::move(details);
  status["code"] = http_status(error.code);
  make_text(out);
  return out;
}

Json success_status(Json details) {
  Json out = status_head("Success");
  if (!details.is_null()) out.get_object()["details"] = std::move(details);
  return out;
}

Error not_found(const Kind& kind, std::string_view name) {
  if (name.empty())
    return make_error(Code::NotFound, "the server could not find the requested resource");
  return about(Code::NotFound, kind, name, named(kind, name) + " not found");
}

Error already_exists(const Kind& kind, std::string_view name) {
  return about(Code::AlreadyExists, kind, name, named(kind, name) + " already exists");
}

Error conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return about(Code::Conflict, kind, name,
               "Operation cannot be fulfilled on " + named(kind, name) + ": " + std::string(why));
}

Error modified_conflict(const Kind& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Error forbidden(const Kind& kind, std::string_view name, std::string_view why,
                std::vector<Cause> causes) {
  Error out = about(
      Code::Forbidden, kind, name,
      (name.empty() ? kind.resource() : named(kind, name)) + " is forbidden: " + std::string(why));
  out.causes = std::move(causes);
  return out;
}

Error invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes) {
  CHECK(!causes.empty());
  const std::string full_kind = kind.group.empty() ? kind.kind : kind.kind + "." + kind.group;
  Error out = make_error(
      Code::Invalid, full_kind + " \"" + std::string(name) + "\" is invalid: " + list_of(causes));
  out.subject = ErrorSubject{kind.group, kind.kind, std::string(name)};
  out.causes = std::move(causes);
  return out;
}

Error invalid_options(std::string_view options_kind, std::vector<Cause> causes) {
  return invalid(Kind{"meta.k8s.io", "v1", std::string(options_kind), "", false}, "",
                 std::move(causes));
}

Error bad_request(std::string message) {
  return make_error(Code::BadRequest, std::move(message));
}

Error internal_error(std::string_view why) {
  Error out = make_error(Code::Internal, "Internal error occurred: " + std::string(why));
  out.causes.push_back({"", std::string(why), ""});
  return out;
}

Error revision_too_large(std::int64_t asked, std::int64_t current) {
  Error out =
      make_error(Code::Timeout, "Timeout: Too large resource version: " + std::to_string(asked) +
                                    ", current: " + std::to_string(current));
  out.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  out.retry_after_seconds = 1;
  return out;
}

}  // namespace krater::api
