// Where objects stand in the store: "/<resource>/<namespace>/<name>", "/<resource>/<name>" for
// cluster scope. Claims (addresses, ports: things only one object may hold) stand beside them under
// "!", out of every list. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/object.h"
#include "storage/store.h"

namespace krater::api {

std::string store_key(const ObjectKey& key);
std::string store_key(const Kind& kind, std::string_view name_space, std::string_view name);
// All objects of a resource (Kind::resource()), or those of one namespace; "" for cluster scope.
storage::KeyRange store_range(std::string_view resource, std::string_view name_space);
// nullopt for claims.
std::optional<ObjectKey> object_key(std::string_view store_key);
std::string claim_key(std::string_view claim);

// Never null: records that hold objects are decoded by object_decoder() when they are published.
ObjectPtr object_of(const storage::RecordPtr& record);

}  // namespace krater::api
