#include "client/event_recorder.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "base/strings.h"

namespace krater::client {
namespace {

constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxMessage = 1024;
constexpr int kEarnTogether = 10;
constexpr std::string_view kCombined = "(combined from similar events): ";
constexpr std::string_view kCurrent = "\x01";  // no message

// At a character boundary: an Event must stay UTF-8.
void cut(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  text.resize(limit);
}

std::string_view text_of(EventType type) {
  return type == EventType::Normal ? "Normal" : "Warning";
}

}  // namespace

struct EventRecorder::Line {
  ObjectKey key;  // of the Event
  Json involved;  // involvedObject
  EventText text;
  WallTime first, last;
  std::int64_t count = 0;
  std::int64_t written = 0;  // the count that is stored, as far as we know; 0: not stored
  bool in_flight = false;
};

struct EventRecorder::Talker {
  int tokens = 0;
  SteadyTime refilled{};
  struct Similar {
    std::unordered_set<std::string> messages;
    SteadyTime since{};
  };
  std::map<std::string, Similar> similar;  // by type and reason
};

EventRecorder::EventRecorder(ObjectClient& client, Loop& loop, const WallClock& clock,
                             std::string component, std::string host, Limits limits)
    : client_(client),
      loop_(loop),
      clock_(clock),
      component_(std::move(component)),
      host_(std::move(host)),
      limits_(limits),
      writes_left_(limits.writes_at_once),
      earned_(loop.now()) {}

EventRecorder::~EventRecorder() {
  *alive_ = false;
}

void EventRecorder::record(const Object& about, EventText text) {
  cut(text.reason, kMaxReason);
  cut(text.message, kMaxMessage);
  const std::string who = about.key().text() + "/" + about.uid().text();
  auto place = talker_of_.find(who);
  if (place == talker_of_.end()) {
    talkers_.emplace_front(who, std::make_unique<Talker>());
    talkers_.front().second->tokens = limits_.burst;
    talkers_.front().second->refilled = loop_.now();
    place = talker_of_.emplace(who, talkers_.begin()).first;
    if (talkers_.size() > limits_.remembered) {
      talker_of_.erase(talkers_.back().first);
      talkers_.pop_back();
    }
  } else {
    talkers_.splice(talkers_.begin(), talkers_, place->second);
  }
  Talker& talker = *place->second->second;
  if (!text.current && !spend(talker)) {
    ++dropped_;
    return;
  }
  const bool combined = !text.current && combine(talker, text);
  const LinePtr line = line_of(about, text, combined);
  line->last = clock_.now();
  ++line->count;
  if (!line->in_flight) send(line);
}

bool EventRecorder::spend(Talker& talker) {
  const SteadyTime now = loop_.now();
  if (limits_.refill > Duration(0)) {
    const auto earned = (now - talker.refilled) / limits_.refill;
    if (earned > 0) {
      talker.tokens =
          static_cast<int>(std::min<std::int64_t>(limits_.burst, talker.tokens + earned));
      talker.refilled += earned * limits_.refill;
    }
  }
  if (talker.tokens == 0) return false;
  --talker.tokens;
  return true;
}

bool EventRecorder::combine(Talker& talker, const EventText& text) {
  Talker::Similar& similar = talker.similar[std::string(text_of(text.type)) + "/" + text.reason];
  if (similar.messages.empty() || loop_.now() - similar.since > limits_.similar_within) {
    similar.messages.clear();
    similar.since = loop_.now();
  }
  if (similar.messages.contains(text.message)) return false;
  if (similar.messages.size() >= limits_.similar) return true;
  similar.messages.insert(text.message);
  return false;
}

EventRecorder::LinePtr EventRecorder::line_of(const Object& about, const EventText& text,
                                              bool combined) {
  // A combined or current event is told apart by its reason alone; its message is the newest one.
  const std::string said = about.key().resource + "\n" + about.uid().text() + "\n" +
                           std::string(text_of(text.type)) + "\n" + text.reason + "\n" +
                           (combined       ? std::string(kCombined)
                            : text.current ? std::string(kCurrent)
                                           : text.message) +
                           "\n" + text.field_path + "\n" + component_ + "\n" + host_;
  std::string suffix(8, '\0');
  const std::uint64_t hash = fnv1a(said);
  for (int i = 0; i < 8; ++i)
    suffix[static_cast<std::size_t>(i)] = static_cast<char>(hash >> (56 - 8 * i));
  std::string name = about.name();
  cut(name, 236);  // 253 with the suffix
  const std::string name_space = about.name_space().empty() ? "default" : about.name_space();
  ObjectKey key = ObjectKey::of(kinds::kEvent, name_space, name + "." + hex_encode(suffix));
  const std::string id = key.text();
  if (const auto place = lines_.find(id); place != lines_.end()) {
    recent_.splice(recent_.begin(), recent_, place->second);
    if (combined) (*place->second)->text.message = std::string(kCombined) + text.message;
    if (text.current) (*place->second)->text.message = text.message;
    return *place->second;
  }
  auto line = std::make_shared<Line>();
  line->key = std::move(key);
  JsonObject involved;
  involved["kind"] = about.kind();
  if (!about.name_space().empty()) involved["namespace"] = about.name_space();
  involved["name"] = about.name();
  involved["uid"] = about.uid().text();
  involved["apiVersion"] = about.api_version();
  involved["resourceVersion"] = about.revision().text();
  if (!text.field_path.empty()) involved["fieldPath"] = text.field_path;
  line->involved = std::move(involved);
  line->text = text;
  if (combined) line->text.message = std::string(kCombined) + text.message;
  cut(line->text.message, kMaxMessage);
  line->first = clock_.now();
  recent_.push_front(line);
  lines_.emplace(id, recent_.begin());
  if (recent_.size() > limits_.remembered) {
    lines_.erase(recent_.back()->key.text());
    recent_.pop_back();
  }
  return line;
}

void EventRecorder::send(const LinePtr& line) {
  line->in_flight = true;
  if (waiting_.size() >= limits_.waiting) return settle(line, false);
  waiting_.push_back(line);
  if (timer_ == 0) drain();
}

void EventRecorder::write(const LinePtr& line) {
  if (line->written == 0) return create(line);
  count_on(line);
}

void EventRecorder::earn() {
  const SteadyTime now = loop_.now();
  const std::int64_t earned = (now - earned_) / limits_.write_every;
  earned_ += earned * limits_.write_every;
  writes_left_ =
      static_cast<int>(std::min<std::int64_t>(limits_.writes_at_once, writes_left_ + earned));
}

// A client may answer from within, so the line is taken out first. When the allowance is used up,
// a few are earned together: timers cost too.
void EventRecorder::drain() {
  earn();
  while (!waiting_.empty() && writes_left_ > 0) {
    --writes_left_;
    const LinePtr line = waiting_.front();
    waiting_.pop_front();
    write(line);
  }
  if (waiting_.empty() || timer_ != 0) return;
  timer_ = loop_.after(kEarnTogether * limits_.write_every, [this, alive = alive_] {
    if (!*alive) return;
    timer_ = 0;
    drain();
  });
}

void EventRecorder::create(const LinePtr& line) {
  Json event = new_object(kinds::kEvent, line->key.name_space, line->key.name);
  JsonObject& body = event.get_object();
  body["involvedObject"] = line->involved;
  body["reason"] = line->text.reason;
  body["message"] = line->text.message;
  JsonObject source;
  source["component"] = component_;
  if (!host_.empty()) source["host"] = host_;
  body["source"] = std::move(source);
  body["firstTimestamp"] = to_rfc3339(line->first);
  body["lastTimestamp"] = to_rfc3339(line->last);
  body["count"] = line->count;
  body["type"] = text_of(line->text.type);
  body["eventTime"] = nullptr;
  if (!line->text.action.empty()) body["action"] = line->text.action;
  body["reportingComponent"] = component_;
  body["reportingInstance"] = host_;
  const std::int64_t sent = line->count;
  client_.write(
      CreateWrite{kinds::kEvent, line->key.name_space, std::move(event)},
      [this, alive = alive_, line, sent](const Result<ObjectPtr>& result) {
        if (!*alive) return;
        if (result) {
          line->written = sent;
          return settle(line, true);
        }
        if (result.error().code == Code::AlreadyExists) return adopt(line);
        log::debug("event.lost", {{"event", line->key.text()}, {"error", result.error().message}});
        settle(line, false);
      });
}

// Told before this process began, or before we forgot: go on from the stored count.
void EventRecorder::adopt(const LinePtr& line) {
  client_.get(kinds::kEvent, line->key.name_space, line->key.name,
              [this, alive = alive_, line](const Result<ObjectPtr>& result) {
                if (!*alive) return;
                if (!result) return settle(line, false);
                const std::int64_t stored = int_at(*(*result)->document(), {"count"}).value_or(1);
                line->count += stored;
                line->written = stored;
                count_on(line);
              });
}

void EventRecorder::count_on(const LinePtr& line) {
  JsonObject patch;
  patch["count"] = line->count;
  patch["lastTimestamp"] = to_rfc3339(line->last);
  patch["message"] = line->text.message;
  const std::int64_t sent = line->count;
  client_.write(PatchWrite{kinds::kEvent, line->key.name_space, line->key.name, PatchType::Merge,
                           std::move(patch)},
                [this, alive = alive_, line, sent](const Result<ObjectPtr>& result) {
                  if (!*alive) return;
                  if (result) {
                    line->written = sent;
                    return settle(line, true);
                  }
                  if (result.error().code == Code::NotFound) {  // its hour is over: it begins anew
                    line->count -= line->written;
                    line->written = 0;
                    line->first = line->last;
                    return create(line);
                  }
                  settle(line, false);
                });
}

// What was said while the write was in flight goes into the next one.
void EventRecorder::settle(const LinePtr& line, bool written) {
  line->in_flight = false;
  if (!written) {
    ++dropped_;
    return;
  }
  if (line->count > line->written) send(line);
}

}  // namespace krater::client
