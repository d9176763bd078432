#include "controllers/apps/revisions.h"

#include <algorithm>

#include "base/name_suffix.h"
#include "base/strings.h"

namespace krater::controllers {
namespace {

constexpr int kHashLength = 10;
constexpr std::size_t kMaxPrefix = 223;

std::int64_t number_of(const Object& revision) {
  return int_at(*revision.document(), {"revision"}).value_or(0);
}

void by_number(std::vector<ObjectPtr>& revisions) {
  std::ranges::sort(revisions, [](const ObjectPtr& a, const ObjectPtr& b) {
    const std::int64_t x = number_of(*a), y = number_of(*b);
    return x == y ? a->name() < b->name() : x < y;
  });
}

Json data_of(const Json& pod_template) {
  Json replacement = pod_template;
  set_path(replacement, {"$patch"}, "replace");
  Json out(boost::json::object_kind);
  set_path(out, {"spec", "template"}, std::move(replacement));
  return out;
}

TemplateRevision read(const Object& revision, std::string_view hash_label) {
  TemplateRevision out;
  out.name = revision.name();
  out.hash = revision.label(hash_label);
  const std::shared_ptr<const Json> document = revision.document();
  out.number = int_at(*document, {"revision"}).value_or(0);
  if (const Json* pod_template = find(*document, {"data", "spec", "template"})) {
    out.pod_template = *pod_template;
    erase_path(out.pod_template, {"$patch"});
  }
  return out;
}

PlannedWrite create(const WorkloadView& owner, std::string_view hash_label,
                    const TemplateRevision& revision) {
  Json object = new_object(kinds::kControllerRevision, owner->name_space(), revision.name);
  Labels labels = string_map(find(revision.pod_template, {"metadata", "labels"}));
  labels[std::string(hash_label)] = revision.hash;
  set_path(object, {"metadata", "labels"}, to_json_object(labels));
  set_path(object, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*owner.object())});
  set_path(object, {"data"}, data_of(revision.pod_template));
  set_path(object, {"revision"}, revision.number);
  return {client::CreateWrite{kinds::kControllerRevision, owner->name_space(), std::move(object)},
          Code::AlreadyExists,
          {},
          {}};
}

PlannedWrite renumber(const Object& revision, std::int64_t number) {
  Json patch(boost::json::object_kind);
  set_path(patch, {"revision"}, number);
  client::PatchWrite write{kinds::kControllerRevision, revision.name_space(), revision.name(),
                           client::PatchType::Merge, std::move(patch)};
  write.only_if = revision.revision();
  return {std::move(write), {}, {}, {}};
}

}  // namespace

Revisions choose_revisions(const RevisionsSeen& seen) {
  std::vector<ObjectPtr> known = seen.known;
  by_number(known);
  const std::int64_t next = known.empty() ? 1 : number_of(*known.back()) + 1;
  const Json& wanted = seen.owner.pod_template();
  Revisions out;
  out.collisions = seen.collisions;
  // The newest of equal ones; it goes to the end of the history when it is asked for again.
  const auto same = std::find_if(known.rbegin(), known.rend(), [&](const ObjectPtr& revision) {
    return read(*revision, seen.hash_label).pod_template == wanted;
  });
  if (same != known.rend()) {
    out.update = read(**same, seen.hash_label);
    if (same != known.rbegin()) {
      out.update.number = next;
      out.write = renumber(**same, next);
    }
  } else {
    out.update.number = next;
    out.update.pod_template = wanted;
    const std::string text = to_json(with_sorted_keys(wanted));
    const std::string prefix = seen.owner->name().substr(0, kMaxPrefix) + "-";
    for (;; ++out.collisions) {
      const std::string salt = out.collisions > 0 ? "/" + std::to_string(out.collisions) : "";
      out.update.hash = name_suffix(fnv1a(text + salt), kHashLength);
      out.update.name = prefix + out.update.hash;
      if (!seen.name_taken(out.update.name)) break;
    }
    out.write = create(seen.owner, seen.hash_label, out.update);
  }
  out.current = out.update;
  for (const ObjectPtr& revision : known) {
    if (revision->name() == seen.current) out.current = read(*revision, seen.hash_label);
  }
  return out;
}

std::vector<PlannedWrite> surplus_revisions(const RevisionsSeen& seen,
                                            const std::set<std::string>& live) {
  std::vector<ObjectPtr> idle;
  for (const ObjectPtr& revision : seen.known) {
    if (!live.contains(revision->name())) idle.push_back(revision);
  }
  by_number(idle);
  std::vector<PlannedWrite> out;
  const std::ptrdiff_t surplus = std::ssize(idle) - seen.owner.history_limit();
  for (std::ptrdiff_t i = 0; i < surplus; ++i) {
    const ObjectPtr& revision = idle[static_cast<std::size_t>(i)];
    client::DeleteWrite gone{kinds::kControllerRevision, revision->name_space(), revision->name()};
    gone.only_uid = revision->uid();
    out.push_back({std::move(gone), Code::NotFound, {}, {}});
  }
  return out;
}

}  // namespace krater::controllers
