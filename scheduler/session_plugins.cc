// The beginning and the end of a session, which its plugins take part in.
#include "scheduler/session.h"

namespace krater::scheduler {

void Session::open_plugins() {
  for (const std::vector<PluginChoice>& tier : config_.tiers) {
    plugins_.start_tier();
    for (const PluginChoice& choice : tier) {
      choice.make(plugins_, choice.flags);
      entries_.emplace_back(choice.name, plugins_.plugins.size());
    }
  }
  reclaims_ = (config_.has_action("reclaim") || config_.has_action("gangreclaim")) &&
              !plugins_.reclaimable.empty();
  each_entry(PluginPart::Open, [this](Plugin& plugin) { plugin.open(*this); });
}

void Session::close() {
  take_back_incomplete();
  each_entry(PluginPart::Close, [this](Plugin& plugin) { plugin.close(*this); });
}

// An entry may have made more than one plugin.
void Session::each_entry(PluginPart part, const std::function<void(Plugin&)>& visit) {
  std::size_t at = 0;
  for (const auto& [name, end] : entries_) {
    const auto work = [&, end = end] {
      for (; at < end; ++at) visit(*plugins_.plugins[at]);
    };
    if (around_) {
      around_(name, part, work);
    } else {
      work();
    }
  }
}

SessionFigures Session::figures() const {
  SessionFigures out;
  for (const auto& plugin : plugins_.plugins) plugin->measure(*this, out);
  return out;
}

}  // namespace krater::scheduler
