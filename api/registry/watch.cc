#include "api/registry/watch.h"

#include <deque>
#include <utility>

#include "api/admission/causes.h"
#include "api/machinery/custom/custom_kind.h"
#include "api/registry/keys.h"
#include "api/registry/list.h"
#include "api/registry/projection.h"
#include "api/registry/selection.h"
#include "api/registry/status.h"
#include "api/registry/watch_cursor.h"

namespace krater::api {
namespace {

using Type = WatchEvent::Type;

// How a watch begins, by Kubernetes' table of parameters.
struct Begin {
  std::optional<storage::SnapshotPtr> state{};  // whose objects come first, as ADDED
  Revision after;
  bool bookmark_first = false;
  bool bookmark_after_state = false;
};

Error forbidden_option(std::string_view why) {
  return invalid_options("ListOptions", {forbidden_value("resourceVersionMatch", why)});
}

Result<Begin> begin_of(const storage::Store& store, const WatchQuery& query) {
  TRY_ASSIGN(const std::optional<Revision> asked, parse_revision(query.resource_version));
  const bool anywhere = !asked || *asked == Revision();
  if (!query.send_initial_events && !query.resource_version_match.empty()) {
    return forbidden_option(
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (query.send_initial_events && query.resource_version_match != "NotOlderThan") {
    return forbidden_option(
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  Begin out;
  const bool wants_state = query.send_initial_events.value_or(anywhere);
  if (wants_state) {
    TRY_ASSIGN(storage::SnapshotPtr snapshot, snapshot_not_older(store, asked));
    out.after = snapshot->revision();
    out.state = std::move(snapshot);
    out.bookmark_after_state = query.send_initial_events.has_value() && query.bookmarks;
    return out;
  }
  out.after = anywhere ? store.revision() : *asked;
  out.bookmark_first = anywhere && query.bookmarks;
  return out;
}

class Cursor final : public Watch {
 public:
  Cursor(KindSchemaPtr schema, Selection selection, std::deque<WatchEvent> first, Revision start,
         std::unique_ptr<storage::Watch> source, std::function<void()> notify)
      : schema_(std::move(schema)),
        selection_(std::move(selection)),
        first_(std::move(first)),
        start_(start),
        source_(std::move(source)) {
    const CustomKind* custom = as_custom(*schema_);
    if (custom == nullptr) return;
    life_ = custom->life();
    end_ = KindLife::wait(life_, std::move(notify));
  }

  Result<std::vector<WatchEvent>> next(std::size_t limit) override {
    std::vector<WatchEvent> out;
    while (!first_.empty() && out.size() < limit) {
      out.push_back(std::move(first_.front()));
      first_.pop_front();
    }
    // Only an empty answer of the source arms its notification, so go on until something passes the
    // selection.
    while (out.empty()) {
      Result<std::vector<storage::EventPtr>> events = source_->next(limit);
      if (!events) return expired(std::move(events).error());
      if (events->empty()) {
        if (life_ == nullptr || !life_->over()) break;
        return make_error(Code::NotFound, "the kind is not served any more");
      }
      for (const storage::EventPtr& event : *events) {
        if (std::optional<WatchEvent> seen = translate(*event)) out.push_back(*std::move(seen));
      }
    }
    return out;
  }

  std::optional<WatchEvent> bookmark() const override {
    if (!first_.empty()) return std::nullopt;
    return bookmark_at(*schema_, source_->progress(), false);
  }

  static WatchEvent bookmark_at(const KindSchema& schema, Revision revision,
                                bool ends_initial_events) {
    JsonObject metadata;
    metadata["resourceVersion"] = revision.text();
    metadata["creationTimestamp"] = nullptr;
    if (ends_initial_events)
      metadata["annotations"] = JsonObject{{"k8s.io/initial-events-end", "true"}};
    JsonObject object;
    object["kind"] = schema.kind().kind;
    object["apiVersion"] = schema.kind().api_version();
    object["metadata"] = std::move(metadata);
    return {Type::Bookmark, revision, nullptr,
            std::make_shared<const std::string>(to_json(object))};
  }

 private:
  // Seen through the selection: entering it is an addition, leaving it a deletion, the rest is
  // nobody's business.
  std::optional<WatchEvent> translate(const storage::Event& event) const {
    const ObjectPtr now = projected(*schema_, object_of(event.record));
    const ObjectPtr before =
        event.previous ? projected(*schema_, object_of(event.previous)) : nullptr;
    const bool gone = event.what == storage::Event::What::Delete;
    const bool matched = before != nullptr && selection_.matches(*before);
    const bool matches = !gone && selection_.matches(*now);
    if (matches) return made(matched ? Type::Modified : Type::Added, now);
    if (!matched) return std::nullopt;
    return made(Type::Deleted, gone ? now : with_revision(before, event.revision()));
  }

  static WatchEvent made(Type type, const ObjectPtr& object) {
    return {type, object->revision(), object, object->bytes()};
  }

  Error expired(Error error) const {
    if (error.code != Code::Expired) return error;
    return make_error(Code::Expired, "too old resource version: " + start_.text());
  }

  KindSchemaPtr schema_;
  Selection selection_;
  std::deque<WatchEvent> first_;
  Revision start_;
  std::unique_ptr<storage::Watch> source_;
  std::shared_ptr<KindLife> life_;  // of users' kinds
  std::unique_ptr<KindLife::Waiting> end_;
};

Result<std::deque<WatchEvent>> first_events(const KindSchema& schema, const Selection& selection,
                                            const storage::KeyRange& range, const Begin& begin) {
  std::deque<WatchEvent> out;
  if (begin.bookmark_first) out.push_back(Cursor::bookmark_at(schema, begin.after, false));
  if (!begin.state) return out;
  TRY((*begin.state)->scan(range, std::nullopt, [&](const storage::RecordPtr& record) {
    const ObjectPtr object = projected(schema, object_of(record));
    if (selection.matches(*object))
      out.push_back({Type::Added, object->revision(), object, object->bytes()});
    return true;
  }));
  if (begin.bookmark_after_state) out.push_back(Cursor::bookmark_at(schema, begin.after, true));
  return out;
}

}  // namespace

WatchEvent failure_event(const Error& error) {
  return {Type::Error, Revision(), nullptr,
          std::make_shared<const std::string>(to_json(failure_status(error)))};
}

Result<std::unique_ptr<Watch>> open_watch(storage::Store& store, KindSchemaPtr schema,
                                          const WatchQuery& query, std::function<void()> notify) {
  TRY_ASSIGN(Selection selection,
             Selection::parse(schema, query.label_selector, query.field_selector));
  TRY_ASSIGN(const Begin begin, begin_of(store, query));
  if (begin.after > store.revision())
    return revision_too_large(begin.after.number(), store.revision().number());
  const storage::KeyRange range = store_range(schema->stored_kind().resource(), query.name_space);
  // The source is opened before the state is read out: nothing can fall between them, both name one
  // revision.
  Result<std::unique_ptr<storage::Watch>> source = store.watch({range, begin.after, notify});
  if (!source && source.error().code == Code::Expired) {
    return make_error(Code::Expired, "too old resource version: " + begin.after.text() + " (" +
                                         store.compacted().text() + ")");
  }
  if (!source) return std::move(source).error();
  TRY_ASSIGN(std::deque<WatchEvent> first, first_events(*schema, selection, range, begin));
  return std::unique_ptr<Watch>(std::make_unique<Cursor>(
      std::move(schema), std::move(selection), std::move(first), begin.after, *std::move(source),
      std::move(notify)));
}

}  // namespace krater::api
