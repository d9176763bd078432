#include "api/registry/collection.h"

#include <atomic>
#include <optional>
#include <utility>

namespace krater::api {
namespace {

// All deletes are queued at once, so that they share the store's syncs; the last answer completes
// the whole.
struct Pending {
  explicit Pending(std::size_t count) : answers(count), open(count) {}
  std::vector<std::optional<Result<Answer>>> answers;  // each slot written by its own callback
  std::atomic<std::size_t> open;
  Registry::ManyDone done;
};

void finish(Pending& pending) {
  std::vector<Answer> out;
  for (std::optional<Result<Answer>>& answer : pending.answers) {
    if (answer->has_value()) {
      out.push_back(std::move(**answer));
    } else if (answer->error().code != Code::NotFound && answer->error().code != Code::Conflict) {
      return pending.done(std::move(answer->error()));
    }
  }
  pending.done(std::move(out));
}

}  // namespace

void delete_each(Registry& registry, const Kind& kind, std::vector<ObjectPtr> items,
                 client::DeleteWrite options, RequestInfo info, Registry::ManyDone done) {
  if (items.empty()) return done(std::vector<Answer>());
  auto pending = std::make_shared<Pending>(items.size());
  pending->done = std::move(done);
  for (std::size_t i = 0; i < items.size(); ++i) {
    client::DeleteWrite one = options;
    one.kind = kind;
    one.name_space = items[i]->name_space();
    one.name = items[i]->name();
    one.only_uid = items[i]->uid();
    registry.write(std::move(one), info, [pending, i](Result<Answer> answer) {
      pending->answers[i] = std::move(answer);
      if (pending->open.fetch_sub(1) == 1) finish(*pending);
    });
  }
}

}  // namespace krater::api
