// Rules that no schema can say, one file a kind: what is filled in, what is refused, what may exist
// only once. Pure decisions over one write and a view of the other objects; the registry calls them
// in this order: mutate -> (schema validation) validate -> admit. Any thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/causes.h"
#include "api/admission/settings.h"
#include "base/env.h"
#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::api {

// The other objects, at one revision.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  // Null when absent.
  virtual Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                                std::string_view name) const = 0;
  // An empty namespace lists all.
  virtual Result<std::vector<ObjectPtr>> list(const Kind& kind,
                                              std::string_view name_space) const = 0;
  virtual Result<bool> claimed(std::string_view claim) const = 0;
};

enum class Operation { Create, Update, Delete };

// One write on its way through.
struct Admission {
  Operation operation = Operation::Create;
  const Kind& kind;
  std::string name_space, name;
  std::string subresource{};
  Json& object;               // what would be stored; of a delete what is there
  const Json* old = nullptr;  // updates: what is there
  const ObjectReader& reader;
  const AdmissionSettings& settings;
  Rng& rng;
  WallTime now;
  std::vector<std::string>& warnings;
};

// Fills in. An Error of Code::Forbidden holds only the reason: the registry says of what.
Result<void> mutate(Admission& admission);
// All violations.
Causes validate(const Admission& admission);
// The last word, on creates, updates and deletes; same errors as mutate.
Result<void> admit(const Admission& admission);

// What only one object may hold at a time ("clusterip/10.96.0.7"). Claims are taken and released in
// the transaction that stores or removes the object, so two objects never hold the same.
std::set<std::string> claims_of(const Kind& kind, const Json& object);

inline Error refusal(std::string why) {
  return make_error(Code::Forbidden, std::move(why));
}

}  // namespace krater::api
