// One object through admission, beside others that are there.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"

namespace krater::api::testing {

// Other objects, as a map.
class FakeReader final : public ObjectReader {
 public:
  void put(const Kind& kind, std::string_view name_space, std::string_view name,
           std::string_view json) {
    const ObjectKey key = ObjectKey::of(kind, name_space, name);
    Json object = *parse_json(json);
    set_path(object, {"apiVersion"}, Json(kind.api_version()));
    set_path(object, {"kind"}, Json(kind.kind));
    set_path(object, {"metadata", "name"}, Json(name));
    objects_[key] =
        *Object::parse(key, Revision(1), std::make_shared<const std::string>(to_json(object)));
  }
  Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                        std::string_view name) const override {
    const auto place = objects_.find(ObjectKey::of(kind, name_space, name));
    return place == objects_.end() ? ObjectPtr() : place->second;
  }
  Result<std::vector<ObjectPtr>> list(const Kind& kind,
                                      std::string_view name_space) const override {
    std::vector<ObjectPtr> out;
    for (const auto& [key, object] : objects_) {
      if (key.resource == kind.resource() && (name_space.empty() || key.name_space == name_space))
        out.push_back(object);
    }
    return out;
  }
  Result<bool> claimed(std::string_view claim) const override {
    return claims.contains(std::string(claim));
  }

  std::set<std::string> claims{};

 private:
  std::map<ObjectKey, ObjectPtr> objects_;
};

class AdmissionTest : public ::testing::Test {
 protected:
  // mutate, validate, admit; "" when all agree, else what they say.
  std::string submit(const Kind& kind, std::string_view name, std::string_view json,
                     std::string_view old_json = {}, Operation operation = Operation::Create) {
    object = *parse_json(json);
    old = old_json.empty() ? Json(nullptr) : *parse_json(old_json);
    if (!old_json.empty()) operation = Operation::Update;
    warnings.clear();
    Admission admission{
        operation, kind,   kind.namespaced ? "default" : "",           std::string(name),
        "",        object, old_json.empty() ? nullptr : &old,          reader,
        settings,  rng,    WallTime::from_unix_seconds(1'767'225'600), warnings};
    if (operation != Operation::Delete) {
      if (const Result<void> mutated = mutate(admission); !mutated) return mutated.error().message;
      std::string problems;
      for (const Cause& cause : validate(admission)) problems += text_of(cause) + "\n";
      if (!problems.empty()) return problems;
    }
    const Result<void> admitted = admit(admission);
    return admitted ? "" : admitted.error().message;
  }
  bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  FakeReader reader;
  AdmissionSettings settings;
  SeededRng rng{7};
  std::vector<std::string> warnings;
  Json object, old;
};

}  // namespace krater::api::testing
