// watch: a stream of events, flushed as they come: one JSON document a line, or a protobuf message
// behind its length; over a WebSocket, a message each.
#include "api/registry/watch.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "api/registry/status.h"
#include "api/server/body.h"
#include "api/server/handlers.h"
#include "api/server/protobuf_answer.h"
#include "api/server/render.h"
#include "api/server/websocket.h"

namespace krater::api::handlers {
namespace {

namespace chrono = std::chrono;
using Clock = chrono::steady_clock;

constexpr std::size_t kBatch = 256;
constexpr auto kBookmarkEvery = chrono::seconds(60);
constexpr std::int64_t kShortestDefault = 1800;  // without timeoutSeconds a watch lives this long,
                                                 // up to twice: clients come back spread over time

std::string_view type_name(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::Added:
      return "ADDED";
    case WatchEvent::Type::Modified:
      return "MODIFIED";
    case WatchEvent::Type::Deleted:
      return "DELETED";
    case WatchEvent::Type::Bookmark:
      return "BOOKMARK";
    case WatchEvent::Type::Error:
      return "ERROR";
  }
  return "";
}

// How events leave: as they are, or with their object as a table or as metadata alone.
class EventWriter {
 public:
  EventWriter(KindSchemaPtr schema, Media media, IncludeObject include, const WallClock& clock)
      : schema_(std::move(schema)),
        protobuf_(media.format == Format::Protobuf),
        shape_(media.shape),
        include_(include),
        clock_(clock) {}

  void append(std::string& out, const WatchEvent& event) {
    if (!protobuf_) return append_json_event(out, event);
    const bool partial = shape_ == Shape::PartialMetadata && event.object;
    const Result<Json> object = parse_json(partial ? partial_metadata(*event.object) : *event.json);
    if (object) out += protobuf_frame(*schema_, type_name(event.type), *object);
  }

 private:
  void append_json_event(std::string& out, const WatchEvent& event) {
    if (shape_ == Shape::Full || event.type == WatchEvent::Type::Error ||
        (shape_ == Shape::PartialMetadata && !event.object)) {
      for (const std::string_view piece : event.pieces()) out += piece;
      return;
    }
    out += R"({"type":")";
    out += type_name(event.type);
    out += R"(","object":)";
    if (shape_ == Shape::PartialMetadata) {
      out += partial_metadata(*event.object);
    } else {
      const TableWriter table(*schema_, include_, clock_.now());
      out += event.object ? table.single(*event.object, std::exchange(columns_, false))
                          : table.empty(event.revision);
    }
    out += "}\n";
  }

  KindSchemaPtr schema_;
  bool protobuf_;
  Shape shape_;
  IncludeObject include_;
  const WallClock& clock_;
  bool columns_ = true;  // only the first event carries the column definitions
};

// The store's notification comes on its own thread and the stream may be gone by then.
class Notification {
 public:
  void connect(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
  }
  void operator()() {
    const std::lock_guard lock(mutex_);
    if (ring_) ring_();
  }

 private:
  std::mutex mutex_;
  std::function<void()> ring_;
};

struct Stream {
  std::unique_ptr<Watch> watch;
  std::shared_ptr<Notification> notification;
  EventWriter writer;
  bool bookmarks;
  Clock::duration lifetime;
  Metrics& metrics;
  std::shared_ptr<std::atomic<std::uint64_t>> sent;
};

struct Counted {
  explicit Counted(std::atomic<std::int64_t>& n) : count(n) { ++count; }
  ~Counted() { --count; }
  std::atomic<std::int64_t>& count;
};

// One turn: everything there is now, in batches. False when the stream is over.
boost::asio::awaitable<bool> send_ready(Stream& s, BodyWriter& out) {
  for (;;) {
    const Result<std::vector<WatchEvent>> events = s.watch->next(kBatch);
    std::string text;
    if (!events) {
      if (events.error().code == Code::NotFound) co_return false;
      s.writer.append(text, failure_event(events.error()));
      co_await out.write(std::move(text));
      co_return false;
    }
    if (events->empty()) co_return true;
    for (const WatchEvent& event : *events) s.writer.append(text, event);
    *s.sent += events->size();
    if (!co_await out.write(std::move(text))) co_return false;
  }
}

boost::asio::awaitable<bool> send_bookmark(Stream& s, BodyWriter& out) {
  if (!s.bookmarks) co_return true;
  const std::optional<WatchEvent> bookmark = s.watch->bookmark();
  if (!bookmark) co_return true;  // initial events are still to come
  std::string text;
  s.writer.append(text, *bookmark);
  co_return co_await out.write(std::move(text));
}

boost::asio::awaitable<void> run(std::shared_ptr<Stream> s, BodyWriter& out) {
  const Counted counted(s->metrics.watches);
  s->notification->connect(out.notifier());
  const Clock::time_point end = Clock::now() + s->lifetime;
  Clock::time_point bookmark = Clock::now() + kBookmarkEvery;
  while (co_await send_ready(*s, out)) {
    const Clock::time_point now = Clock::now();
    if (out.ending() || now >= end) {
      co_await send_bookmark(*s, out);
      co_return;
    }
    if (now >= bookmark) {
      if (!co_await send_bookmark(*s, out)) co_return;
      bookmark = now + kBookmarkEvery;
    }
    co_await out.wait(std::min(end, bookmark) - now);
  }
}

}  // namespace

Answering watch(Deps& deps, Exchange& x) {
  Result<WatchQuery> query = watch_query(x);
  if (!query) co_return respond_error(query.error());
  if (const Result<void> origin = check_origin(x.request); wants_websocket(x.request) && !origin)
    co_return respond_error(origin.error());
  const Result<Media> media = negotiate_for(x, false, !query->send_initial_events.value_or(false));
  if (!media) co_return respond_error(media.error());
  const Result<IncludeObject> include = include_object(x.request.query.first("includeObject"));
  if (!include) co_return respond_error(include.error());
  const Result<std::optional<std::int64_t>> asked = x.request.query.integer("timeoutSeconds", 0);
  if (!asked) co_return respond_error(asked.error());
  std::int64_t seconds = asked->value_or(0);
  if (seconds == 0)
    seconds = kShortestDefault + static_cast<std::int64_t>(deps.rng.below(kShortestDefault));

  auto notification = std::make_shared<Notification>();
  Result<std::unique_ptr<Watch>> opened =
      deps.registry.watch(x.schema->kind(), *query, [notification] { (*notification)(); });
  if (!opened) co_return respond_error(opened.error());
  const Kind& kind = x.schema->kind();
  auto stream = std::make_shared<Stream>(
      Stream{*std::move(opened), std::move(notification),
             EventWriter(x.schema, *media, *include, deps.clock), query->bookmarks,
             chrono::seconds(seconds), deps.metrics,
             deps.metrics.watch_events(kind.group, kind.version, kind.kind)});
  const bool protobuf = media->format == Format::Protobuf;
  BodyStream body = [stream = std::move(stream)](BodyWriter& out) { return run(stream, out); };
  Response response;
  if (wants_websocket(x.request)) {
    const Framing framing = protobuf ? Framing::Prefixed : Framing::Lines;
    response.upgrade =
        over_websocket(std::move(body), choose_protocol(x.request, framing, protobuf));
    co_return response;
  }
  response.set("Content-Type",
               protobuf ? std::string(kProtobufType) + ";stream=watch" : std::string(kJsonType));
  response.stream = std::move(body);
  co_return response;
}

}  // namespace krater::api::handlers
