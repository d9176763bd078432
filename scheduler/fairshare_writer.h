// Keeps the usage that the plugin fairshare counts in a ConfigMap, so that a restart forgets
// nothing: read before the first cycle, written at most once an interval, only when it says
// something new, and when the scheduler stops. Somebody else's edit counts when it can be read, and
// is refused with an event when it cannot; deleting the object forgets all usage. Lives on the
// scheduler's loop; one write is in flight at most.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"
#include "scheduler/fairshare_book.h"

namespace krater::scheduler {

inline constexpr std::string_view kFairshareStateKey = "state.json";  // as upstream

class FairshareWriter {
 public:
  // `news`: there is usage to load, or it turned out that there is none.
  FairshareWriter(client::ObjectClient& client, Loop& loop, const WallClock& clock,
                  client::EventRecorder& events, FairshareBook& book, std::function<void()> news)
      : client_(client),
        loop_(loop),
        clock_(clock),
        events_(events),
        book_(book),
        news_(std::move(news)) {}
  ~FairshareWriter() { *alive_ = false; }
  FairshareWriter(const FairshareWriter&) = delete;
  FairshareWriter& operator=(const FairshareWriter&) = delete;

  // What the configuration in force asks for; null: nothing. `fresh`: nobody has been counted so
  // far.
  void use(const FairshareRules* rules, bool fresh);
  // What there was to read has been read.
  bool ready() const { return !wants_ || listed_; }
  // What has been read is to take the place of what was counted, once the book knows who holds what
  // now: they have held it all the time since it was written.
  bool has_news() const { return read_.has_value(); }
  void load();
  // Looks whether it is time to write.
  void tick();
  // The last word; answers do not matter any more.
  void stop();

 private:
  void take(const ObjectPtr& found, bool first);
  void gone();
  void write();
  bool is_ours(const std::string& text) const { return text == sent_ || text == sent_before_; }

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  client::EventRecorder& events_;
  FairshareBook& book_;
  std::function<void()> news_;
  std::unique_ptr<client::Subscription> subscription_;
  std::string name_space_, name_;
  Duration every_{};
  bool wants_ = false, listed_ = false, exists_ = false, writing_ = false, adopt_ = false;
  std::string sent_, sent_before_;
  std::optional<FairshareState> read_{};
  std::optional<std::uint64_t> written_changes_{};
  SteadyTime next_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
