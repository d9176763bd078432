// All kinds that are served: the built-in ones, and those that users have defined, which come and
// go while the server runs. Copy on write: each change publishes a new immutable state; readers
// keep what they hold. Any thread; publish() on one at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/custom/custom_kind.h"
#include "api/machinery/custom/definition.h"
#include "api/machinery/schema.h"

namespace krater::api {

class CustomSchemas final : public SchemaSet {
 public:
  explicit CustomSchemas(std::unique_ptr<const SchemaSet> built_in);
  ~CustomSchemas() override;

  // Serves exactly these kinds, by their accepted names, beside the built-in ones. What is not
  // served any more, or has another definition now, ends: so do the watches on it. Definitions of
  // built-in resources change nothing. `at`: the store's revision now; what was written up to it
  // may lack the shape of a definition that is new.
  void publish(const std::vector<Definition>& definitions, Revision at);

  // Whether a definition of this resource would be one of a built-in kind.
  bool is_built_in(std::string_view group, std::string_view plural) const;
  const SchemaSet& built_in() const { return *built_in_; }

  KindSchemaPtr find(std::string_view group, std::string_view version,
                     std::string_view plural) const override;
  KindSchemaPtr find_kind(std::string_view api_version, std::string_view kind) const override;
  KindSchemaPtr find_resource(std::string_view resource) const override;
  std::vector<KindSchemaPtr> all() const override;
  Result<Json> decode_protobuf_message(std::string_view message_name,
                                       std::string_view body) const override;
  std::vector<std::string> openapi_v3_paths() const override;
  std::optional<std::string> openapi_v3(std::string_view path) const override;
  std::string openapi_v2() const override;

 private:
  struct Made;   // of one definition
  struct State;  // what readers see
  std::shared_ptr<const State> state() const;
  std::shared_ptr<const Made> make(const Definition& definition, Revision at) const;

  std::unique_ptr<const SchemaSet> built_in_;
  std::shared_ptr<const WholeObject> whole_;
  std::map<std::string, std::shared_ptr<const Made>> made_;  // publish() only; by name
  mutable std::mutex mutex_;                                 // guards state_
  std::shared_ptr<const State> state_;
};

// make_builtin_schemas() with room for more.
std::unique_ptr<CustomSchemas> make_schemas();

}  // namespace krater::api
