#include "client/http_object_client.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/log.h"
#include "base/strings.h"
#include "client/http_watch.h"

namespace krater::client {
namespace {

struct CodeOfReason {
  std::string_view reason;
  Code code;
};

constexpr CodeOfReason kReasons[] = {{"BadRequest", Code::BadRequest},
                                     {"Unauthorized", Code::Unauthorized},
                                     {"Forbidden", Code::Forbidden},
                                     {"NotFound", Code::NotFound},
                                     {"AlreadyExists", Code::AlreadyExists},
                                     {"Conflict", Code::Conflict},
                                     {"Expired", Code::Expired},
                                     {"Gone", Code::Expired},
                                     {"Invalid", Code::Invalid},
                                     {"MethodNotAllowed", Code::MethodNotAllowed},
                                     {"NotAcceptable", Code::NotAcceptable},
                                     {"RequestEntityTooLarge", Code::TooLarge},
                                     {"UnsupportedMediaType", Code::UnsupportedMedia},
                                     {"TooManyRequests", Code::TooManyRequests},
                                     {"Timeout", Code::Timeout},
                                     {"ServerTimeout", Code::Timeout},
                                     {"ServiceUnavailable", Code::Unavailable},
                                     {"InternalError", Code::Internal}};

Code code_of_status(int status) {
  switch (status) {
    case 400:
      return Code::BadRequest;
    case 401:
      return Code::Unauthorized;
    case 403:
      return Code::Forbidden;
    case 404:
      return Code::NotFound;
    case 405:
      return Code::MethodNotAllowed;
    case 409:
      return Code::Conflict;
    case 410:
      return Code::Expired;
    case 413:
      return Code::TooLarge;
    case 415:
      return Code::UnsupportedMedia;
    case 422:
      return Code::Invalid;
    case 429:
      return Code::TooManyRequests;
    case 503:
      return Code::Unavailable;
    case 504:
      return Code::Timeout;
    default:
      return Code::Internal;
  }
}

std::string_view content_type_of(PatchType type) {
  switch (type) {
    case PatchType::Json:
      return "application/json-patch+json";
    case PatchType::Merge:
      return "application/merge-patch+json";
    case PatchType::StrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::Apply:
      return "application/apply-patch+yaml";
  }
  return {};
}

std::string_view policy_of(Propagation propagation) {
  switch (propagation) {
    case Propagation::Default:
      return {};
    case Propagation::Background:
      return "Background";
    case Propagation::Foreground:
      return "Foreground";
    case Propagation::Orphan:
      return "Orphan";
  }
  return {};
}

// A Write as an HTTP request, relative to the server.
struct ToRequest {
  HttpRequest operator()(const CreateWrite& w) const {
    // A subresource takes an object of its own kind, which says so itself.
    if (!w.subresource.empty()) {
      return make("POST", api_path(w.kind, w.name_space, w.name, w.subresource), to_json(w.object));
    }
    Json object = w.object;
    set_path(object, {"apiVersion"}, Json(w.kind.api_version()));
    set_path(object, {"kind"}, Json(w.kind.kind));
    return make("POST", api_path(w.kind, w.name_space, {}), to_json(object));
  }
  HttpRequest operator()(const UpdateWrite& w) const {
    return make("PUT", api_path(w.kind, w.name_space, w.name, w.subresource), to_json(w.object));
  }
  HttpRequest operator()(const PatchWrite& w) const {
    Json patch = w.patch;
    if (w.only_if && w.type != PatchType::Json) {
      set_path(patch, {"metadata", "resourceVersion"}, Json(w.only_if->text()));
    }
    HttpRequest out =
        make("PATCH", api_path(w.kind, w.name_space, w.name, w.subresource), to_json(patch));
    out.headers.front().second = content_type_of(w.type);
    return out;
  }
  HttpRequest operator()(const DeleteWrite& w) const {
    JsonObject options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    if (w.propagation != Propagation::Default)
      options["propagationPolicy"] = policy_of(w.propagation);
    if (w.grace_seconds) options["gracePeriodSeconds"] = *w.grace_seconds;
    JsonObject preconditions;
    if (w.only_uid) preconditions["uid"] = w.only_uid->text();
    if (w.only_if) preconditions["resourceVersion"] = w.only_if->text();
    if (!preconditions.empty()) options["preconditions"] = std::move(preconditions);
    return make("DELETE", api_path(w.kind, w.name_space, w.name), to_json(options));
  }
  HttpRequest operator()(const BindWrite& w) const {
    JsonObject metadata{{"name", w.pod}, {"namespace", w.name_space}, {"uid", w.pod_uid.text()}};
    if (!w.annotations.empty()) metadata["annotations"] = to_json_object(w.annotations);
    const JsonObject binding{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", std::move(metadata)},
        {"target", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", w.node.text()}}}};
    return make("POST", api_path(kinds::kPod, w.name_space, w.pod, "binding"), to_json(binding));
  }

  static HttpRequest make(std::string method, std::string path, std::string body) {
    HttpRequest out;
    out.method = std::move(method);
    out.url = std::move(path);
    out.headers.emplace_back("Content-Type", "application/json");
    out.body = std::move(body);
    return out;
  }
};

// The object of a reply; a Status Success (some deletes) stands for an object that is not shown.
Result<ObjectPtr> object_of(const ObjectKey& key, const HttpResponse& reply) {
  if (reply.status >= 300) return error_from_reply(reply);
  TRY_ASSIGN(const Json parsed, parse_json(reply.body));
  if (text_at(parsed, {"kind"}) == "Status") return ObjectPtr();
  ObjectKey real = key;
  if (real.name.empty()) real.name = text_at(parsed, {"metadata", "name"});
  const Revision revision(parse_int(text_at(parsed, {"metadata", "resourceVersion"})).value_or(0));
  return Object::parse(std::move(real), revision, std::make_shared<const std::string>(reply.body));
}

// Requests under way at once; the others wait for their turn. More would only need more connections,
// each with a handshake that costs more than the request.
constexpr std::size_t kAtOnce = 32;

class HttpObjectClient final : public ObjectClient {
 public:
  HttpObjectClient(HttpClient& http, Loop& loop, Rng& rng, HttpObjectClientOptions options)
      : http_(http), loop_(loop), rng_(rng), options_(std::move(options)) {}

  void get(const Kind& kind, const std::string& name_space, const std::string& name,
           Callback<ObjectPtr> done) override {
    HttpRequest request;
    request.url = api_path(kind, name_space, name);
    send(std::move(request), ObjectKey::of(kind, name_space, name), std::move(done));
  }

  void write(Write write, Callback<ObjectPtr> done) override {
    send(std::visit(ToRequest(), write), key_of(write), std::move(done));
  }

  void transact(std::vector<Write>, Callback<std::vector<ObjectPtr>> done) override {
    loop_.post([done = std::move(done)] {
      done(make_error(Code::MethodNotAllowed,
                      "several writes in one commit are for in-process clients"));
    });
  }

  std::unique_ptr<Subscription> watch(WatchQuery query, WatchHandlers handlers) override {
    return make_http_watch(
        {http_, loop_, rng_, options_.server_url, headers(), options_.max_reply_bytes},
        std::move(query), std::move(handlers));
  }

 private:
  std::vector<std::pair<std::string, std::string>> headers() const {
    std::vector<std::pair<std::string, std::string>> out{{"Accept", "application/json"},
                                                         {"User-Agent", options_.user_agent}};
    if (!options_.bearer_token.empty())
      out.emplace_back("Authorization", "Bearer " + options_.bearer_token);
    return out;
  }

  void send(HttpRequest request, ObjectKey key, Callback<ObjectPtr> done) {
    request.url = options_.server_url + request.url;
    for (auto& header : headers()) request.headers.push_back(std::move(header));
    request.timeout = options_.request_timeout;
    request.max_reply_bytes = options_.max_reply_bytes;
    waiting_.push_back({std::move(request), std::move(key), std::move(done)});
    launch();
  }

  void launch() {
    while (!waiting_.empty() && exchanges_.size() < kAtOnce) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      const std::uint64_t id = ++last_id_;
      exchanges_[id] = http_.send(
          std::move(next.request), [this, id, alive = std::weak_ptr<bool>(alive_),
                                    key = std::move(next.key), done = std::move(next.done)](
                                       Result<HttpResponse> reply) {
            // The handle goes first: `done` may drop this client.
            const auto handle = std::move(exchanges_.extract(id).mapped());
            if (reply) {
              done(object_of(key, *reply));
            } else {
              done(reply.error());
            }
            if (!alive.expired()) launch();
          });
    }
  }

  struct Waiting {
    HttpRequest request;
    ObjectKey key;
    Callback<ObjectPtr> done;
  };

  HttpClient& http_;
  Loop& loop_;
  Rng& rng_;
  HttpObjectClientOptions options_;
  std::map<std::uint64_t, std::unique_ptr<HttpExchange>> exchanges_;
  std::deque<Waiting> waiting_;
  std::uint64_t last_id_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

std::string api_path(const Kind& kind, std::string_view name_space, std::string_view name,
                     std::string_view subresource) {
  std::string out =
      kind.group.empty() ? "/api/" + kind.version : "/apis/" + kind.group + "/" + kind.version;
  if (kind.namespaced && !name_space.empty()) out += "/namespaces/" + percent_encode(name_space);
  out += "/" + kind.plural;
  if (!name.empty()) out += "/" + percent_encode(name);
  if (!subresource.empty()) out += "/" + std::string(subresource);
  return out;
}

Error error_from_reply(const HttpResponse& reply) {
  Error out =
      make_error(code_of_status(reply.status), "HTTP status " + std::to_string(reply.status));
  const Result<Json> parsed = parse_json(reply.body);
  if (!parsed || text_at(*parsed, {"kind"}) != "Status") return out;
  if (const auto message = string_at(*parsed, {"message"})) out.message = *message;
  const std::string reason = text_at(*parsed, {"reason"});
  for (const CodeOfReason& known : kReasons) {
    if (known.reason == reason) out.code = known.code;
  }
  if (const JsonArray* causes = array_at(*parsed, {"details", "causes"})) {
    for (const Json& cause : *causes) {
      out.causes.push_back(
          {text_at(cause, {"reason"}), text_at(cause, {"message"}), text_at(cause, {"field"})});
    }
  }
  if (const auto seconds = int_at(*parsed, {"details", "retryAfterSeconds"}))
    out.retry_after_seconds = static_cast<int>(*seconds);
  return out;
}

std::unique_ptr<ObjectClient> make_http_object_client(HttpClient& http, Loop& loop, Rng& rng,
                                                      HttpObjectClientOptions options) {
  return std::make_unique<HttpObjectClient>(http, loop, rng, std::move(options));
}

}  // namespace krater::client
