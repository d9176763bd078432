#include "api/local_client/local_client.h"

#include <utility>

#include "base/log.h"

namespace krater::api {
namespace {

constexpr std::size_t kBatch = 512;
constexpr Duration kRelistDelay = 100ms;

std::vector<ObjectPtr> objects_of(std::vector<Answer> answers) {
  std::vector<ObjectPtr> out;
  out.reserve(answers.size());
  for (Answer& answer : answers) out.push_back(std::move(answer.object));
  return out;
}

// One subscription: lists, watches, and lists again when history was compacted under it. Everything
// but notify runs on the loop; `this` is shared with the posts under way, which do nothing once it
// is closed.
class Feed : public std::enable_shared_from_this<Feed> {
 public:
  Feed(Registry& registry, Loop& loop, client::WatchQuery query, client::WatchHandlers handlers)
      : registry_(registry),
        loop_(loop),
        query_(std::move(query)),
        handlers_(std::move(handlers)) {}

  void start() {
    loop_.post([self = shared_from_this()] { self->replace(); });
  }
  void close() {
    closed_ = true;
    watch_.reset();
    handlers_ = {};
  }

 private:
  void replace() {
    if (closed_) return;
    ListQuery list;
    list.name_space = query_.name_space;
    list.label_selector = query_.label_selector;
    list.field_selector = query_.field_selector;
    Result<ListResult> listed = registry_.list(query_.kind, list);
    if (!listed) return again(listed.error());
    WatchQuery watch{query_.name_space, query_.label_selector, query_.field_selector,
                     listed->revision.text()};
    Result<std::unique_ptr<Watch>> opened =
        registry_.watch(query_.kind, watch, [weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->wake();
        });
    if (!opened) return again(opened.error());
    watch_ = *std::move(opened);
    if (handlers_.on_replace) {
      const auto call = handlers_.on_replace;  // the handler may drop the subscription
      call(std::move(listed->items), listed->revision);
    }
    drain();
  }

  // Any thread.
  void wake() {
    loop_.post([self = shared_from_this()] { self->drain(); });
  }

  // A batch at a time, so that a busy kind does not keep the loop from its other work.
  void drain() {
    if (closed_ || !watch_) return;
    Result<std::vector<WatchEvent>> events = watch_->next(kBatch);
    if (!events) {
      watch_.reset();
      return again(events.error());
    }
    for (WatchEvent& event : *events) {
      if (closed_) return;
      deliver(std::move(event));
    }
    if (closed_) return;
    if (!events->empty()) return wake();
    if (handlers_.on_progress) {
      if (const std::optional<WatchEvent> mark = watch_->bookmark()) {
        const auto call = handlers_.on_progress;
        call(mark->revision);
      }
    }
  }

  void deliver(WatchEvent event) {
    switch (event.type) {
      case WatchEvent::Type::Added:
      case WatchEvent::Type::Modified: {
        const auto call = handlers_.on_upsert;
        if (call) call(std::move(event.object));
        return;
      }
      case WatchEvent::Type::Deleted: {
        const auto call = handlers_.on_remove;
        if (call) call(std::move(event.object));
        return;
      }
      case WatchEvent::Type::Bookmark:
      case WatchEvent::Type::Error:
        return;  // not asked for; errors come as results
    }
  }

  void again(const Error& why) {
    log::info("local_client.relist", {{"kind", query_.kind.resource()}, {"why", why.message}});
    loop_.after(kRelistDelay, [self = shared_from_this()] { self->replace(); });
  }

  Registry& registry_;
  Loop& loop_;
  client::WatchQuery query_;
  client::WatchHandlers handlers_;
  std::unique_ptr<Watch> watch_;
  bool closed_ = false;
};

class FeedHandle final : public client::Subscription {
 public:
  explicit FeedHandle(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  ~FeedHandle() override { feed_->close(); }
  FeedHandle(const FeedHandle&) = delete;
  FeedHandle& operator=(const FeedHandle&) = delete;

 private:
  std::shared_ptr<Feed> feed_;
};

class LocalClient final : public client::ObjectClient {
 public:
  LocalClient(Registry& registry, Loop& loop, std::string user) : registry_(registry), loop_(loop) {
    info_.field_manager = user.substr(user.rfind(':') + 1);
    info_.user = std::move(user);
    info_.groups = {"system:authenticated"};
    info_.field_validation = FieldValidation::Ignore;
    info_.in_process = true;
  }
  ~LocalClient() override { *alive_ = false; }
  LocalClient(const LocalClient&) = delete;
  LocalClient& operator=(const LocalClient&) = delete;

  void get(const Kind& kind, const std::string& name_space, const std::string& name,
           client::Callback<ObjectPtr> done) override {
    answer(std::move(done), registry_.get(kind, name_space, name));
  }

  void write(client::Write write, client::Callback<ObjectPtr> done) override {
    registry_.write(std::move(write), info_,
                    [link = link(), done = std::move(done)](Result<Answer> result) mutable {
                      if (!result)
                        return post(link, std::move(done),
                                    Result<ObjectPtr>(std::move(result).error()));
                      post(link, std::move(done), Result<ObjectPtr>(std::move(result->object)));
                    });
  }

  void transact(std::vector<client::Write> writes,
                client::Callback<std::vector<ObjectPtr>> done) override {
    registry_.transact(
        std::move(writes), info_,
        [link = link(), done = std::move(done)](Result<std::vector<Answer>> result) mutable {
          using Objects = std::vector<ObjectPtr>;
          if (!result)
            return post(link, std::move(done), Result<Objects>(std::move(result).error()));
          post(link, std::move(done), Result<Objects>(objects_of(*std::move(result))));
        });
  }

  std::unique_ptr<client::Subscription> watch(client::WatchQuery query,
                                              client::WatchHandlers handlers) override {
    auto feed = std::make_shared<Feed>(registry_, loop_, std::move(query), std::move(handlers));
    feed->start();
    return std::make_unique<FeedHandle>(std::move(feed));
  }

 private:
  // What an answer needs that may arrive when the client is gone. `alive` is read and written on
  // the loop only.
  struct Link {
    Loop& loop;
    std::shared_ptr<bool> alive;
  };
  Link link() const { return {loop_, alive_}; }

  template <typename T>
  static void post(const Link& link, client::Callback<T> done, Result<T> result) {
    link.loop.post(
        [alive = link.alive, done = std::move(done), result = std::move(result)]() mutable {
          if (*alive) done(std::move(result));
        });
  }
  template <typename T>
  void answer(client::Callback<T> done, Result<T> result) const {
    post(link(), std::move(done), std::move(result));
  }

  Registry& registry_;
  Loop& loop_;
  RequestInfo info_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<client::ObjectClient> make_local_client(Registry& registry, Loop& loop,
                                                        std::string user) {
  return std::make_unique<LocalClient>(registry, loop, std::move(user));
}

}  // namespace krater::api
