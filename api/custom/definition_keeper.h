// Keeps what is served in step with the definitions that are stored: judges their names, publishes
// their kinds, says so in their status (in this order: who sees a definition established can use
// it), and takes away the objects of definitions that are deleted.
//
// Lives on one loop; level-triggered: every pass looks at all definitions. Nothing is kept that a
// restart would lose.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/custom/definition_status.h"
#include "api/machinery/custom/custom_schemas.h"
#include "api/registry/registry.h"
#include "base/env.h"
#include "client/cache.h"
#include "client/object_client.h"

namespace krater::api {

// Publishes the definitions that are established. Once at start, before serving.
Result<void> load_definitions(const Registry& registry, CustomSchemas& schemas);

struct DefinitionKeeperDeps {
  const Registry& registry;  // for its revision
  CustomSchemas& schemas;
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  std::function<void()> published{};  // after each publication, on the loop
};

class DefinitionKeeper {
 public:
  explicit DefinitionKeeper(DefinitionKeeperDeps deps);
  ~DefinitionKeeper();
  DefinitionKeeper(const DefinitionKeeper&) = delete;
  DefinitionKeeper& operator=(const DefinitionKeeper&) = delete;

  void start();

 private:
  struct Known {
    ObjectPtr object;
    Definition definition;
    Acceptance acceptance;
    Ending ending = Ending::Not;
    bool served = false;
  };
  // The objects of a definition that is being deleted.
  struct Leaving {
    std::unique_ptr<client::Cache> objects;
    std::set<Uid> asked;
  };

  void wake();
  void pass();
  std::vector<Known> read();
  void judge(std::vector<Known>& all) const;
  void publish(const std::vector<Known>& all);
  Ending ending_of(const Known& known);
  bool all_gone(const Definition& definition);
  void delete_objects(const std::string& name, const Kind& kind, Leaving& leaving);
  void write_status(const Known& known);
  void release(const Known& known);
  void write(const Object& object, client::Write write);
  void retry();

  DefinitionKeeperDeps deps_;
  client::Cache definitions_;
  std::map<std::string, std::pair<Revision, Definition>> read_;  // by name
  std::map<std::string, Leaving> leaving_;                       // by name
  std::map<std::string, Revision> written_;  // by name: the revision a write is under way for
  bool woken_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::api
