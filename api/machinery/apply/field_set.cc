#include "api/machinery/apply/field_set.h"

#include <algorithm>

namespace krater::api {
namespace {

constexpr std::string_view kSelf = ".";

bool before(const FieldSet::Entry& a, const FieldSet::Entry& b) {
  return a.element < b.element;
}

// Walks two sets side by side: `only_a`, `only_b` and `both` answer what goes into the result.
template <typename OnlyA, typename OnlyB, typename Both>
FieldSet combine(const FieldSet& a, const FieldSet& b, OnlyA only_a, OnlyB only_b, Both both) {
  FieldSet out;
  auto left = a.entries().begin();
  auto right = b.entries().begin();
  while (left != a.entries().end() || right != b.entries().end()) {
    if (right == b.entries().end() || (left != a.entries().end() && before(*left, *right))) {
      only_a(out, *left++);
    } else if (left == a.entries().end() || before(*right, *left)) {
      only_b(out, *right++);
    } else {
      both(out, *left++, *right++);
    }
  }
  return out;
}

void keep(FieldSet& out, const FieldSet::Entry& entry) {
  out.add(entry.element, entry.owned, entry.below);
}
void drop(FieldSet&, const FieldSet::Entry&) {}

// Clients may write the same keys with other spaces or in another order.
Result<std::string> canonical_element(std::string_view text) {
  const auto bad = [&] {
    return make_error(Code::BadRequest, "invalid path element \"" + std::string(text) + "\"");
  };
  if (text.size() < 2 || text[1] != ':') return bad();
  switch (text[0]) {
    case 'f':
    case 'i':
      return std::string(text);
    case 'k':
    case 'v': {
      TRY_ASSIGN(const Json value, parse_json(text.substr(2)));
      if (text[0] == 'k' && !value.is_object()) return bad();
      return std::string(text.substr(0, 2)) + to_json(with_sorted_keys(value));
    }
    default:
      return bad();
  }
}

void append_paths(const FieldSet& set, const std::string& prefix, std::vector<std::string>& out) {
  for (const FieldSet::Entry& entry : set.entries()) {
    if (entry.owned) out.push_back(prefix + element_text(entry.element));
  }
  for (const FieldSet::Entry& entry : set.entries()) {
    if (!entry.below.empty()) append_paths(entry.below, prefix + element_text(entry.element), out);
  }
}

}  // namespace

FieldSet::FieldSet() = default;
FieldSet::~FieldSet() = default;
FieldSet::FieldSet(const FieldSet&) = default;
FieldSet::FieldSet(FieldSet&&) noexcept = default;
FieldSet& FieldSet::operator=(const FieldSet&) = default;
FieldSet& FieldSet::operator=(FieldSet&&) noexcept = default;

bool FieldSet::empty() const {
  return entries_.empty();
}

const std::vector<FieldSet::Entry>& FieldSet::entries() const {
  return entries_;
}

const FieldSet::Entry* FieldSet::find(std::string_view element) const {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), element,
      [](const Entry& entry, std::string_view wanted) { return entry.element < wanted; });
  return at != entries_.end() && at->element == element ? &*at : nullptr;
}

void FieldSet::add(std::string element, bool owned, FieldSet below) {
  if (!owned && below.empty()) return;
  entries_.push_back({std::move(element), owned, std::move(below)});
}

void FieldSet::seal() {
  if (!std::is_sorted(entries_.begin(), entries_.end(), before))
    std::stable_sort(entries_.begin(), entries_.end(), before);
  std::vector<Entry> merged;
  const auto same = [](const Entry& a, const Entry& b) { return a.element == b.element; };
  if (std::adjacent_find(entries_.begin(), entries_.end(), same) == entries_.end()) return;
  for (Entry& entry : entries_) {
    if (merged.empty() || !same(merged.back(), entry)) {
      merged.push_back(std::move(entry));
    } else {
      merged.back().owned = merged.back().owned || entry.owned;
      merged.back().below = unite(merged.back().below, entry.below);
    }
  }
  entries_ = std::move(merged);
}

bool operator==(const FieldSet& a, const FieldSet& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const FieldSet::Entry& x, const FieldSet::Entry& y) {
                      return x.element == y.element && x.owned == y.owned && x.below == y.below;
                    });
}

FieldSet unite(const FieldSet& a, const FieldSet& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return combine(a, b, keep, keep,
                 [](FieldSet& out, const FieldSet::Entry& x, const FieldSet::Entry& y) {
                   out.add(x.element, x.owned || y.owned, unite(x.below, y.below));
                 });
}

FieldSet intersect(const FieldSet& a, const FieldSet& b) {
  return combine(a, b, drop, drop,
                 [](FieldSet& out, const FieldSet::Entry& x, const FieldSet::Entry& y) {
                   out.add(x.element, x.owned && y.owned, intersect(x.below, y.below));
                 });
}

FieldSet subtract(const FieldSet& a, const FieldSet& b) {
  if (b.empty()) return a;
  return combine(a, b, keep, drop,
                 [](FieldSet& out, const FieldSet::Entry& x, const FieldSet::Entry& y) {
                   out.add(x.element, x.owned && !y.owned, subtract(x.below, y.below));
                 });
}

FieldSet subtract_whole(const FieldSet& a, const FieldSet& b) {
  if (b.empty()) return a;
  return combine(a, b, keep, drop,
                 [](FieldSet& out, const FieldSet::Entry& x, const FieldSet::Entry& y) {
                   if (!y.owned) out.add(x.element, x.owned, subtract_whole(x.below, y.below));
                 });
}

Json to_fields_v1(const FieldSet& set) {
  JsonObject out;
  out.reserve(set.entries().size());
  for (const FieldSet::Entry& entry : set.entries()) {
    if (entry.below.empty()) {
      out.emplace(entry.element, JsonObject());
      continue;
    }
    Json below = to_fields_v1(entry.below);
    if (!entry.owned) {
      out.emplace(entry.element, std::move(below));
      continue;
    }
    JsonObject with_self;
    with_self.reserve(below.get_object().size() + 1);
    with_self.emplace(kSelf, JsonObject());
    for (auto& member : below.get_object())
      with_self.emplace(member.key(), std::move(member.value()));
    out.emplace(entry.element, std::move(with_self));
  }
  return out;
}

Result<FieldSet> parse_fields_v1(const Json& fields) {
  const JsonObject* members = fields.if_object();
  if (members == nullptr) return make_error(Code::BadRequest, "fieldsV1 must be an object");
  FieldSet out;
  for (const auto& member : *members) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key == kSelf) continue;  // read by the level above
    TRY_ASSIGN(std::string element, canonical_element(key));
    TRY_ASSIGN(FieldSet below, parse_fields_v1(member.value()));
    const JsonObject& inside = member.value().get_object();
    out.add(std::move(element), inside.empty() || inside.contains(kSelf), std::move(below));
  }
  out.seal();
  return out;
}

std::string element_text(std::string_view element) {
  const std::string_view text = element.substr(2);
  switch (element[0]) {
    case 'f':
      return '.' + std::string(text);
    case 'v':
      return "[=" + std::string(text) + ']';
    case 'k': {
      const Result<Json> keys = parse_json(text);
      if (!keys || !keys->is_object()) break;
      std::string out = "[";
      for (const auto& key : keys->get_object()) {
        if (out.size() > 1) out += ',';
        out.append(key.key().data(), key.key().size());
        out += '=';
        append_json(out, key.value());
      }
      return out + ']';
    }
    default:
      break;
  }
  return '[' + std::string(text) + ']';
}

std::vector<std::string> path_texts(const FieldSet& set) {
  std::vector<std::string> out;
  append_paths(set, "", out);
  return out;
}

}  // namespace krater::api
