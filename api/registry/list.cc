#include "api/registry/list.h"

#include "api/admission/causes.h"
#include "api/registry/continue_token.h"
#include "api/registry/keys.h"
#include "api/registry/projection.h"
#include "api/registry/selection.h"
#include "api/registry/status.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kMatch = "resourceVersionMatch";
constexpr std::string_view kTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder "
    "of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were "
    "created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

// Where a list reads, and from which key on.
struct Start {
  storage::SnapshotPtr snapshot;
  std::optional<std::string> after{};
};

Result<void> check_match(const ListQuery& query, std::optional<Revision> revision) {
  const std::string& match = query.resource_version_match;
  if (match.empty()) return {};
  const auto refuse = [](std::string_view why) {
    return invalid_options("ListOptions", {forbidden_value(std::string(kMatch), why)});
  };
  if (!query.continue_token.empty())
    return refuse("resourceVersionMatch is forbidden when continue is provided");
  if (!revision)
    return refuse("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (match != "Exact" && match != "NotOlderThan") {
    return invalid_options("ListOptions", {unsupported_value(std::string(kMatch), quoted(match),
                                                             {"Exact", "NotOlderThan", ""})});
  }
  if (match == "Exact" && *revision == Revision()) {
    return refuse("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return {};
}

Result<storage::SnapshotPtr> snapshot_exactly(const storage::Store& store, Revision revision) {
  if (revision > store.revision())
    return revision_too_large(revision.number(), store.revision().number());
  if (revision == store.revision()) {
    storage::SnapshotPtr newest = store.snapshot();
    if (newest->revision() == revision) return newest;
  }
  Result<storage::SnapshotPtr> snapshot = store.snapshot_at(revision);
  if (snapshot || snapshot.error().code != Code::Expired) return snapshot;
  return make_error(Code::Expired, "The resourceVersion for the provided list is too old.");
}

Result<Start> resume(const storage::Store& store, const storage::KeyRange& range,
                     const std::string& text) {
  TRY_ASSIGN(ContinueToken token, parse_continue(text));
  if (!range.contains(token.after))
    return bad_request("continue key is not valid: it belongs to another list");
  if (!token.revision) return Start{store.snapshot(), std::move(token.after)};
  Result<storage::SnapshotPtr> snapshot = snapshot_exactly(store, *token.revision);
  if (snapshot) return Start{*std::move(snapshot), std::move(token.after)};
  Error error = std::move(snapshot).error();
  if (error.code == Code::Expired) {
    error.message = kTooOld;
    error.continue_token = to_text({std::nullopt, token.after});
  }
  return error;
}

Result<Start> start_of(const storage::Store& store, const storage::KeyRange& range,
                       const ListQuery& query) {
  TRY_ASSIGN(const std::optional<Revision> revision, parse_revision(query.resource_version));
  TRY(check_match(query, revision));
  if (!query.continue_token.empty()) {
    if (revision && *revision != Revision()) {
      return bad_request("specifying resource version is not allowed when using continue");
    }
    return resume(store, range, query.continue_token);
  }
  const bool exact = query.resource_version_match == "Exact" ||
                     (query.resource_version_match.empty() && query.limit > 0 && revision &&
                      *revision != Revision());
  if (exact) {
    TRY_ASSIGN(storage::SnapshotPtr snapshot, snapshot_exactly(store, *revision));
    return Start{std::move(snapshot)};
  }
  TRY_ASSIGN(storage::SnapshotPtr snapshot, snapshot_not_older(store, revision));
  return Start{std::move(snapshot)};
}

std::string head_of(const KindSchema& schema, const ListResult& list) {
  std::string out = "{\"kind\":\"" + schema.list_kind() + "\",\"apiVersion\":\"" +
                    schema.kind().api_version() + "\",\"metadata\":{\"resourceVersion\":\"" +
                    list.revision.text() + "\"";
  if (!list.continue_token.empty()) out += ",\"continue\":\"" + list.continue_token + "\"";
  if (list.remaining) out += ",\"remainingItemCount\":" + std::to_string(*list.remaining);
  return out + "},\"items\":[";
}

}  // namespace

Result<std::optional<Revision>> parse_revision(std::string_view text) {
  if (text.empty()) return std::optional<Revision>();
  const std::optional<std::int64_t> number = parse_int(text);
  if (!number || *number < 0) {
    return bad_request("Invalid value: " + quoted(text) + ": strconv.ParseUint: parsing " +
                       quoted(text) + ": invalid syntax");
  }
  return std::optional<Revision>(Revision(*number));
}

Result<storage::SnapshotPtr> snapshot_not_older(const storage::Store& store,
                                                std::optional<Revision> asked) {
  storage::SnapshotPtr snapshot = store.snapshot();
  if (asked && *asked > snapshot->revision())
    return revision_too_large(asked->number(), snapshot->revision().number());
  return snapshot;
}

Result<ListResult> read_list(const storage::Store& store, const KindSchemaPtr& schema,
                             const ListQuery& query) {
  if (query.limit < 0) {
    return invalid_options("ListOptions", {invalid_value("limit", std::to_string(query.limit),
                                                         "must be greater than or equal to 0")});
  }
  TRY_ASSIGN(const Selection selection,
             Selection::parse(schema, query.label_selector, query.field_selector));
  const storage::KeyRange range = store_range(schema->stored_kind().resource(), query.name_space);
  TRY_ASSIGN(const Start start, start_of(store, range, query));
  const auto limit = static_cast<std::size_t>(query.limit);

  ListResult out;
  out.revision = start.snapshot->revision();
  std::string last_key;
  bool more = false;
  TRY(start.snapshot->scan(range, start.after, [&](const storage::RecordPtr& record) {
    ObjectPtr object = projected(*schema, object_of(record));
    if (!selection.empty() && !selection.matches(*object)) return true;
    // One match beyond the page tells that there is a next one.
    more = limit > 0 && out.items.size() == limit;
    if (more) return false;
    out.items.push_back(std::move(object));
    last_key = record->key;
    return true;
  }));
  if (more) {
    out.continue_token = to_text({out.revision, last_key});
    if (selection.empty()) {
      TRY_ASSIGN(const std::size_t rest, start.snapshot->count(range, last_key));
      out.remaining = static_cast<std::int64_t>(rest);
    }
  }
  out.head = head_of(*schema, out);
  return out;
}

}  // namespace krater::api
