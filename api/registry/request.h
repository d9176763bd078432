// The vocabulary of the one door: who asks and how, and what comes back. The writes themselves are
// those of client/object_client.h, for HTTP requests and in-process components alike. Values, any
// thread.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::api {

enum class FieldValidation { Ignore, Warn, Strict };

// What admission has to say for the audit log, by annotation.
using AuditNotes = std::map<std::string, std::string>;

struct RequestInfo {
  std::string user;
  std::vector<std::string> groups{};
  std::string uid{};  // of the user
  std::map<std::string, std::vector<std::string>> extra{};
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::Warn;
  // Who managedFields name as the writer.
  std::string field_manager{};
  // Of an apply: take over fields that others own.
  bool force = false;
  // Why this client may not create what it applies; nothing: it may.
  std::optional<Error> create_refused{};
  // Paths of duplicate keys the JSON parser saw in the body (JsonParseOptions::duplicates).
  std::vector<std::string> duplicate_fields{};
  // What this writer may put where, beyond the authorization of the request: asked once the object
  // is as it would be stored (`old`: what is there, nullptr on create). Empty: everything.
  std::function<Result<void>(const Kind& kind, const Json& object, const Json* old)> permit{};
  // A component of this process: updates without resourceVersion are allowed for every kind.
  bool in_process = false;
  // The options as the client gave them, for webhooks: CreateOptions, …; null: none were given.
  Json options{};
  // Webhooks are not asked: what every cluster has is made before anybody could answer.
  bool unhooked = false;
  // A delete that is an eviction: webhooks are asked about that and nothing else.
  bool evicts = false;
  // Filled before the answer, when somebody wants them.
  std::shared_ptr<AuditNotes> notes{};
};

struct Answer {
  ObjectPtr object;      // as stored; of a dry run as it would have been
  bool created = false;  // 201
  bool gone = false;     // the object is not there any more
  std::vector<std::string> warnings{};
};

struct ListQuery {
  std::string name_space{};  // "" for all namespaces and for cluster scope
  std::string label_selector{};
  std::string field_selector{};
  std::int64_t limit = 0;  // 0: everything
  std::string continue_token{};
  std::string resource_version{};        // as in the query
  std::string resource_version_match{};  // "", "NotOlderThan", "Exact"
};

// A list as shared pieces: write `head`, the items' bytes with "," between them, then `kListTail`.
// Nothing is copied or encoded again, however many items there are.
struct ListResult {
  std::string head;  // {"kind":"PodList","apiVersion":"v1","metadata":{…},"items":[
  std::vector<ObjectPtr> items;
  Revision revision;
  std::string continue_token{};
  std::optional<std::int64_t> remaining{};
};
inline constexpr std::string_view kListTail = "]}";

struct WatchQuery {
  std::string name_space{};
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};
  std::string resource_version_match{};
  std::optional<bool> send_initial_events{};
  bool bookmarks = false;  // allowWatchBookmarks
};

struct WatchEvent {
  enum class Type { Added, Modified, Deleted, Bookmark, Error };
  Type type = Type::Added;
  Revision revision;
  ObjectPtr object{};  // null for Bookmark and Error
  Bytes json{};        // the "object" member, shared by everybody who watches

  // The three pieces of the line on the wire, newline included: {"type":"ADDED","object": … }
  std::array<std::string_view, 3> pieces() const;
};

}  // namespace krater::api
