#include <map>

#include "api/machinery/custom/correlate.h"
#include "api/machinery/custom/validate.h"
#include "api/machinery/field_errors.h"

namespace krater::api {
namespace {

class ListChecker {
 public:
  explicit ListChecker(FieldErrors& errors) : errors_(errors) {}

  void walk(const Structural& schema, const Json& value, const FieldPath& path) {
    if (const JsonArray* items = value.if_array()) {
      if (schema.list == ListKind::Set) set(*items, path);
      if (schema.list == ListKind::Map) map(schema, *items, path);
      if (schema.items == nullptr) return;
      for (std::size_t i = 0; i < items->size(); ++i)
        walk(*schema.items, (*items)[i], path.index(i));
    } else if (const JsonObject* object = value.if_object()) {
      for (const auto& entry : *object) {
        const std::string_view name(entry.key().data(), entry.key().size());
        if (const Structural* member = schema.property(name))
          walk(*member, entry.value(), path.field(name));
        else if (schema.values != nullptr)
          walk(*schema.values, entry.value(), path.key(name));
      }
    }
  }

 private:
  // Told once for each value that is there more than once.
  void set(const JsonArray& items, const FieldPath& path) {
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (++seen[to_json(with_sorted_keys(items[i]))] == 2)
        errors_.duplicate(path.index(i), items[i]);
    }
  }

  void map(const Structural& schema, const JsonArray& items, const FieldPath& path) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_object() || items[i].is_null()) continue;
      return errors_.invalid(path.index(i), items[i],
                             "must be an object for an array of list-type map");
    }
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::string key = list_key(schema, items[i]);
      if (++seen[key] != 2) continue;
      const Result<Json> shown = parse_json(key);
      errors_.duplicate(path.index(i), shown ? with_sorted_keys(*shown) : Json());
    }
  }

  FieldErrors& errors_;
};

}  // namespace

std::vector<Cause> validate_lists(const Structural& schema, const Json& value) {
  FieldErrors errors;
  ListChecker(errors).walk(schema, value, FieldPath());
  return errors.take();
}

}  // namespace krater::api
