#include "scheduler/fairshare_writer.h"

#include <algorithm>

#include "base/log.h"

namespace krater::scheduler {

void FairshareWriter::use(const FairshareRules* rules, bool fresh) {
  const bool wants = rules != nullptr && rules->persist;
  if (wants) every_ = rules->flush_every;
  if (wants == wants_ &&
      (!wants || (rules->state_namespace == name_space_ && rules->state_name == name_)))
    return;
  subscription_.reset();
  wants_ = wants;
  listed_ = exists_ = false;
  sent_.clear(), sent_before_.clear();
  written_changes_.reset();
  read_.reset();
  if (!wants) return;
  name_space_ = rules->state_namespace;
  name_ = rules->state_name;
  adopt_ = fresh;
  next_ = loop_.now() + every_;
  client::WatchHandlers handlers;
  handlers.on_replace = [this](const std::vector<ObjectPtr>& all, Revision) {
    const auto place = std::find_if(all.begin(), all.end(),
                                    [this](const ObjectPtr& one) { return one->name() == name_; });
    const bool first = !std::exchange(listed_, true);
    if (place != all.end()) {
      take(*place, first);
    } else {
      gone();
    }
    if (first) news_();
  };
  handlers.on_upsert = [this](const ObjectPtr& one) {
    if (one->name() == name_) take(one, false);
  };
  handlers.on_remove = [this](const ObjectPtr& one) {
    if (one->name() == name_) gone();
  };
  subscription_ = client_.watch({kinds::kConfigMap, name_space_, "", "metadata.name=" + name_},
                                std::move(handlers));
}

void FairshareWriter::take(const ObjectPtr& found, bool first) {
  exists_ = true;
  // Whoever has been counted already is not counted from the file.
  if (first && !adopt_) return;
  const ObjectView view(found);
  const std::string text = text_at(view.document(), {"data", kFairshareStateKey});
  if (text.empty() || is_ours(text)) return;
  const Result<FairshareState> state = parse_fairshare_state(text);
  if (!state) {
    const std::string why = std::string(kFairshareStateKey) + ": " + state.error().message +
                            "; it is not used, and written over";
    log::error("scheduler.fairshare.refused", {{"why", why}});
    events_.warning(*found, "InvalidFairshareState", why);
    written_changes_.reset();
    return;
  }
  log::info("scheduler.fairshare.read",
            {{"queues", state->queues.size()}, {"as_of", to_rfc3339(state->at)}});
  read_ = *state;
  if (!first) news_();
}

void FairshareWriter::load() {
  if (!read_) return;
  book_.load(*read_, clock_.now());
  read_.reset();
}

void FairshareWriter::gone() {
  if (!std::exchange(exists_, false)) return;
  // Somebody has deleted it: a new beginning.
  sent_.clear(), sent_before_.clear();
  read_ = FairshareState{clock_.now()};
  log::info("scheduler.fairshare.reset", {{"object", name_space_ + "/" + name_}});
  news_();
}

void FairshareWriter::tick() {
  if (book_.rules() == nullptr || loop_.now() < next_) return;
  next_ = loop_.now() + std::max(every_, Duration(std::chrono::seconds(1)));
  book_.set_time(loop_.now());
  book_.sweep();
  if (wants_ && listed_) write();
}

void FairshareWriter::write() {
  if (writing_ || read_ || (written_changes_ == book_.changes() && !book_.anybody_holds())) return;
  const FairshareState state = book_.state(clock_.now());
  if (!exists_ && state.queues.empty()) return;
  const std::uint64_t changes = book_.changes();
  sent_before_ = std::exchange(sent_, to_text(state));
  Json object(boost::json::object_kind);
  set_path(object, {"metadata", "labels"},
           JsonObject{{"app", "volcano-scheduler"}, {"component", "fairshare"}});
  set_path(object, {"data", kFairshareStateKey}, Json(sent_));
  client::Write next =
      client::PatchWrite{kinds::kConfigMap, name_space_, name_, client::PatchType::Merge, object};
  if (!exists_) {
    set_path(object, {"metadata", "name"}, Json(name_));
    next = client::CreateWrite{kinds::kConfigMap, name_space_, std::move(object)};
  }
  writing_ = true;
  client_.write(std::move(next), [this, alive = alive_, changes](const Result<ObjectPtr>& done) {
    if (!*alive) return;
    writing_ = false;
    if (done) {
      written_changes_ = changes;
      return;
    }
    log::warn("scheduler.fairshare.failed",
              {{"object", name_space_ + "/" + name_}, {"why", done.error().message}});
  });
}

void FairshareWriter::stop() {
  subscription_.reset();
  if (wants_ && listed_ && book_.rules() != nullptr) {
    writing_ = false;
    book_.set_time(loop_.now());
    write();
  }
  wants_ = false;
  *alive_ = false;
}

}  // namespace krater::scheduler
