#include "api/machinery/field_path.h"

namespace krater::api {

std::string FieldPath::text() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->text();
  switch (step_) {
    case Step::Root:
      break;
    case Step::Field:
      if (!out.empty()) out += '.';
      out += name_;
      break;
    case Step::Index:
      out += '[' + std::to_string(position_) + ']';
      break;
    case Step::Key:
      out += '[';
      out += name_;
      out += ']';
      break;
  }
  return out;
}

std::string FieldPath::fields_only() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->fields_only();
  if (step_ == Step::Field) {
    if (!out.empty()) out += '.';
    out += name_;
  }
  return out;
}

}  // namespace krater::api
