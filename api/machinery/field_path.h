// Where in an object something is: a chain on the stack, turned into text only when there is
// something to report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krater::api {

class FieldPath {
 public:
  FieldPath() = default;  // the whole object
  // A field: `spec.containers`. Both must outlive the new path.
  FieldPath field(std::string_view name) const { return FieldPath(this, name, Step::Field, 0); }
  // An item of a list: `containers[0]`.
  FieldPath index(std::size_t position) const { return FieldPath(this, {}, Step::Index, position); }
  // An entry of a map: `annotations[foo/bar]`.
  FieldPath key(std::string_view name) const { return FieldPath(this, name, Step::Key, 0); }

  std::string text() const;
  // Only the names of fields, as Go's JSON decoder says it: "spec.containers.image".
  std::string fields_only() const;

 private:
  enum class Step { Root, Field, Index, Key };
  FieldPath(const FieldPath* parent, std::string_view name, Step step, std::size_t position)
      : parent_(parent), name_(name), step_(step), position_(position) {}

  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  Step step_ = Step::Root;
  std::size_t position_ = 0;
};

}  // namespace krater::api
