#include "client/http_watch.h"

#include <algorithm>

#include "base/json_fields.h"
#include "base/log.h"
#include "base/strings.h"
#include "client/http_object_client.h"

namespace krater::client {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(100);
constexpr Duration kLastBackoff = std::chrono::seconds(10);
constexpr std::int64_t kWatchSecondsMin = 300;
constexpr std::size_t kLineBytesMax = 8 << 20;

// An event as servers write it: then the object's bytes are taken as they are.
struct PlainEvent {
  bool deleted = false;
  std::string_view object;
};
std::optional<PlainEvent> plain_event(std::string_view line) {
  constexpr std::string_view kAdded = R"({"type":"ADDED","object":)",
                             kModified = R"({"type":"MODIFIED","object":)",
                             kDeleted = R"({"type":"DELETED","object":)";
  for (const std::string_view begin : {kModified, kAdded, kDeleted}) {
    if (!line.starts_with(begin) || !line.ends_with("}}")) continue;
    line.remove_prefix(begin.size());
    line.remove_suffix(1);
    return PlainEvent{begin == kDeleted, line};
  }
  return std::nullopt;
}

// States: Listing -> Watching -> (end) Watching again from the last revision, or Listing after 410;
// any failure waits for a back-off in between. `alive_` guards posted continuations after the
// subscription was dropped.
class HttpWatch final : public Subscription {
 public:
  HttpWatch(HttpWatchDeps deps, WatchQuery query, WatchHandlers handlers)
      : deps_(std::move(deps)), query_(std::move(query)), handlers_(std::move(handlers)) {
    list();
  }
  ~HttpWatch() override {
    *alive_ = false;
    if (timer_ != 0) deps_.loop.cancel(timer_);
  }

 private:
  std::string url(std::vector<std::pair<std::string, std::string>> parameters) const {
    if (!query_.label_selector.empty())
      parameters.emplace_back("labelSelector", query_.label_selector);
    if (!query_.field_selector.empty())
      parameters.emplace_back("fieldSelector", query_.field_selector);
    std::string out = deps_.server_url + api_path(query_.kind, query_.name_space, {});
    char separator = '?';
    for (const auto& [name, value] : parameters) {
      out += separator + name + "=" + percent_encode(value);
      separator = '&';
    }
    return out;
  }

  void list() {
    HttpRequest request;
    request.url = url({});
    request.headers = deps_.headers;
    request.timeout = std::chrono::seconds(60);
    request.max_reply_bytes = deps_.max_reply_bytes;
    exchange_ = deps_.http.send(std::move(request), [this](Result<HttpResponse> reply) {
      Result<void> taken = reply ? take_list(*reply) : Result<void>(reply.error());
      if (!taken) return again("list", taken.error(), /*relist=*/true);
      backoff_ = kFirstBackoff;
      if (*alive_) watch();
    });
  }

  Result<void> take_list(const HttpResponse& reply) {
    if (reply.status >= 300) return error_from_reply(reply);
    TRY_ASSIGN(Json parsed, parse_json(reply.body));
    const Revision at(parse_int(text_at(parsed, {"metadata", "resourceVersion"})).value_or(0));
    std::vector<ObjectPtr> all;
    if (const JsonArray* items = array_at(parsed, {"items"})) {
      for (const Json& item : *items) {
        TRY_ASSIGN(ObjectPtr object, object_from(item));
        all.push_back(std::move(object));
      }
    }
    revision_ = at;
    const auto alive = alive_;
    handlers_.on_replace(std::move(all), at);
    if (!*alive) return make_error(Code::Unavailable, "dropped");
    return {};
  }

  // Items of typed lists omit apiVersion and kind.
  Result<ObjectPtr> object_from(const Json& item) const {
    Json full = item;
    if (find(full, {"kind"}) == nullptr) {
      JsonObject ordered{{"apiVersion", query_.kind.api_version()}, {"kind", query_.kind.kind}};
      if (full.is_object()) {
        for (const auto& member : full.get_object()) ordered[member.key()] = member.value();
      }
      full = std::move(ordered);
    }
    const Revision revision(parse_int(text_at(full, {"metadata", "resourceVersion"})).value_or(0));
    const ObjectKey key = ObjectKey::of(query_.kind, text_at(full, {"metadata", "namespace"}),
                                        text_at(full, {"metadata", "name"}));
    return Object::parse(key, revision, std::make_shared<const std::string>(to_json(full)));
  }

  void watch() {
    HttpRequest request;
    const auto seconds =
        kWatchSecondsMin + static_cast<std::int64_t>(deps_.rng.below(kWatchSecondsMin));
    request.url = url({{"watch", "true"},
                       {"allowWatchBookmarks", "true"},
                       {"resourceVersion", revision_.text()},
                       {"timeoutSeconds", std::to_string(seconds)}});
    request.headers = deps_.headers;
    refusal_.reset();
    expired_ = false;
    line_.clear();
    HttpStreamHandlers stream;
    stream.on_head = [this](const HttpResponse& head) {
      if (head.status >= 300) refusal_ = error_from_reply(head);
    };
    stream.on_data = [this](std::string_view data) { take_data(data); };
    stream.on_end = [this](Result<void> end) { ended(std::move(end)); };
    exchange_ = deps_.http.stream(std::move(request), std::move(stream));
  }

  void take_data(std::string_view data) {
    const auto alive = alive_;
    while (!data.empty() && *alive) {
      const std::size_t end = data.find('\n');
      line_.append(data.substr(0, end));
      if (line_.size() > kLineBytesMax) expired_ = true;  // not a watch stream: start over
      if (end == std::string_view::npos) return;
      data.remove_prefix(end + 1);
      const std::string line = std::exchange(line_, {});
      if (!line.empty() && !expired_) take_event(line);
    }
  }

  void take_event(const std::string& line) {
    if (const std::optional<PlainEvent> plain = plain_event(line)) {
      const Result<ObjectPtr> object = object_in(plain->object);
      if (object) return tell(*object, plain->deleted);
    }
    take_any_event(line);
  }

  void tell(const ObjectPtr& object, bool deleted) {
    backoff_ = kFirstBackoff;
    revision_ = std::max(revision_, object->revision());
    if (deleted) {
      handlers_.on_remove(object);
    } else {
      handlers_.on_upsert(object);
    }
  }

  // An object as it stands in its event. Code::Invalid when it does not say itself what it is.
  Result<ObjectPtr> object_in(std::string_view bytes) const {
    static const std::vector<JsonFieldPath> paths{{"kind"},
                                                  {"metadata", "name"},
                                                  {"metadata", "namespace"},
                                                  {"metadata", "resourceVersion"}};
    TRY_ASSIGN(const Json head, parse_json_fields(bytes, paths));
    const auto revision = parse_int(text_at(head, {"metadata", "resourceVersion"}));
    if (find(head, {"kind"}) == nullptr || !revision)
      return make_error(Code::Invalid, "no whole object");
    ObjectKey key = ObjectKey::of(query_.kind, text_at(head, {"metadata", "namespace"}),
                                  text_at(head, {"metadata", "name"}));
    return Object::parse(std::move(key), Revision(*revision),
                         std::make_shared<const std::string>(bytes));
  }

  void take_any_event(const std::string& line) {
    const Result<Json> event = parse_json(line);
    const Json* item = event ? find(*event, {"object"}) : nullptr;
    if (item == nullptr) {
      expired_ = true;
      return;
    }
    const std::string type = text_at(*event, {"type"});
    if (type == "ERROR") {
      expired_ = int_at(*item, {"code"}).value_or(0) == 410;
      return;
    }
    const Revision revision(parse_int(text_at(*item, {"metadata", "resourceVersion"})).value_or(0));
    backoff_ = kFirstBackoff;
    if (type == "BOOKMARK") {
      revision_ = std::max(revision_, revision);
      if (handlers_.on_progress) handlers_.on_progress(revision_);
      return;
    }
    Result<ObjectPtr> object = object_from(*item);
    if (!object) {
      log::warn("client.watch.object",
                {{"kind", query_.kind.kind}, {"error", object.error().message}});
      return;
    }
    tell(*object, type == "DELETED");
  }

  void ended(Result<void> end) {
    if (refusal_) return again("watch", *refusal_, refusal_->code == Code::Expired);
    if (expired_)
      return again("watch", make_error(Code::Expired, "too old resource version"), true);
    if (!end) return again("watch", end.error(), false);
    watch();
  }

  void again(std::string_view what, const Error& error, bool relist) {
    if (!*alive_) return;
    const Duration jitter(static_cast<std::int64_t>(
        deps_.rng.below(static_cast<std::uint64_t>(backoff_.count() / 2) + 1)));
    log::debug("client.watch.again",
               {{"kind", query_.kind.kind}, {"what", what}, {"error", error.message}});
    timer_ = deps_.loop.after(backoff_ + jitter, [this, relist] {
      timer_ = 0;
      if (relist || revision_ == Revision()) {
        list();
      } else {
        watch();
      }
    });
    backoff_ = std::min(backoff_ * 2, kLastBackoff);
  }

  HttpWatchDeps deps_;
  WatchQuery query_;
  WatchHandlers handlers_;
  Revision revision_;
  Duration backoff_ = kFirstBackoff;
  Loop::TimerId timer_ = 0;
  std::unique_ptr<HttpExchange> exchange_;
  std::string line_;
  std::optional<Error> refusal_;
  bool expired_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<Subscription> make_http_watch(HttpWatchDeps deps, WatchQuery query,
                                              WatchHandlers handlers) {
  return std::make_unique<HttpWatch>(std::move(deps), std::move(query), std::move(handlers));
}

}  // namespace krater::client
