// Which fields of an object somebody owns: a trie of path elements, written as FieldsV1 writes
// them: `f:<field>`, `k:<keys of a list item>`, `v:<item of a set>`. Values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace krater::api {

class FieldSet {
 public:
  struct Entry;

  FieldSet();
  ~FieldSet();
  FieldSet(const FieldSet&);
  FieldSet(FieldSet&&) noexcept;
  FieldSet& operator=(const FieldSet&);
  FieldSet& operator=(FieldSet&&) noexcept;

  bool empty() const;
  // In byte order of their elements; each is owned or has something below.
  const std::vector<Entry>& entries() const;
  const Entry* find(std::string_view element) const;

  // Building: what neither owns nor holds anything is left out. seal() once all is added, before
  // anything else is asked; equal elements become one.
  void add(std::string element, bool owned, FieldSet below);
  void seal();

  friend bool operator==(const FieldSet& a, const FieldSet& b);

 private:
  std::vector<Entry> entries_;
};

struct FieldSet::Entry {
  std::string element;
  bool owned = false;
  FieldSet below;
};

FieldSet unite(const FieldSet& a, const FieldSet& b);
FieldSet intersect(const FieldSet& a, const FieldSet& b);
// `a` without the paths of `b`; what lies below them stays.
FieldSet subtract(const FieldSet& a, const FieldSet& b);
// `a` without the paths of `b` and all below them.
FieldSet subtract_whole(const FieldSet& a, const FieldSet& b);

// FieldsV1. Code::BadRequest for what is none.
Json to_fields_v1(const FieldSet& set);
Result<FieldSet> parse_fields_v1(const Json& fields);

// One element as people read it: `.name`, `[name="c"]`, `[="x"]`.
std::string element_text(std::string_view element);
// All paths, `.spec.containers[name="c"].image`; those of a node before what lies below it.
std::vector<std::string> path_texts(const FieldSet& set);

}  // namespace krater::api
