#include "cli/resource_group_keeper.h"

#include "base/log.h"

namespace krater::cli {

void ResourceGroupKeeper::start() {
  const api::ConfigMapPlace& place = book_->place();
  client::WatchHandlers handlers;
  const auto is_it = [name = place.name](const ObjectPtr& one) { return one->name() == name; };
  handlers.on_replace = [this, is_it](const std::vector<ObjectPtr>& all, Revision) {
    ObjectPtr found;
    for (const ObjectPtr& one : all) {
      if (is_it(one)) found = one;
    }
    look(found);
  };
  handlers.on_upsert = [this, is_it](const ObjectPtr& one) {
    if (is_it(one)) look(one);
  };
  handlers.on_remove = [this, is_it](const ObjectPtr& one) {
    if (is_it(one)) look(nullptr);
  };
  subscription_ =
      client_.watch({kinds::kConfigMap, place.name_space, "", "metadata.name=" + place.name},
                    std::move(handlers));
}

void ResourceGroupKeeper::look(const ObjectPtr& config_map) {
  const api::ResourceGroupBook::Look now = book_->look(config_map);
  std::string line = "action=config verdict=";
  if (now.refused) {
    line += "refused reason=";
    append_json_string(line, *now.refused);
  } else {
    line += "loaded groups=" + std::to_string(now.groups);
  }
  if (line == said_) return;
  said_ = line;
  if (now.refused) {
    log::error("admission.config.refused", {{"why", *now.refused}});
    events_.warning(
        *config_map, "InvalidAdmissionConfiguration",
        book_->place().key + ": " + *now.refused + "; the last good resource groups stay in force");
  } else {
    log::info("admission.config", {{"groups", now.groups}});
  }
  told_(clock_.now(), std::move(line));
}

}  // namespace krater::cli
