#include "storage/testing/crash_ledger.h"

#include <algorithm>
#include <utility>

namespace krater::storage::testing {
namespace {

std::string text(const std::string& key, std::uint64_t serial, bool deletes) {
  return deletes ? key : key + "=" + crash_value(serial);
}

std::string text(const Event& event) {
  return event.what == Event::What::Delete ? event.record->key
                                           : event.record->key + "=" + *event.record->value;
}

std::uint64_t serial_of(const std::string& value) {
  return std::stoull(value);
}

}  // namespace

std::string crash_key(std::uint32_t writer, std::uint32_t slot, char half) {
  return "w" + std::to_string(writer) + "/" + std::to_string(slot) + half;
}

std::string crash_value(std::uint64_t serial) {
  return std::to_string(serial) + std::string(serial * 37 % 900, '.');
}

void CrashLedger::note(const CrashRecord& record) {
  highest_serial_ = std::max(highest_serial_, record.serial);
  if (record.what == CrashRecord::What::Intent) {
    intents_[{record.writer, record.serial}] = record;
    return;
  }
  ++acknowledged_total_;
  acknowledged_[Revision(record.revision)] = record;
}

// An event must be somebody's intent, and follow the one before without a gap.
void CrashLedger::check_event(const Event& event, std::vector<std::string>& wrong) {
  const std::string at = "revision " + event.revision().text();
  if (event.revision() != watched_.next()) wrong.push_back(at + " follows " + watched_.text());
  watched_ = event.revision();
  const std::string& key = event.record->key;
  const auto before = model_.find(key);
  if ((event.previous != nullptr) != (before != model_.end()) ||
      (event.previous && *event.previous->value != before->second)) {
    wrong.push_back(at + ": the version before is not what the watcher had");
  }
  if (event.what == Event::What::Put) {
    const auto writer = static_cast<std::uint32_t>(std::stoul(key.substr(1)));
    const auto intent = intents_.find({writer, serial_of(*event.record->value)});
    if (intent == intents_.end() || intent->second.deletes != 0 ||
        crash_value(intent->second.serial) != *event.record->value) {
      wrong.push_back(at + ": nobody wrote " + text(event));
    }
    model_[key] = *event.record->value;
  } else {
    model_.erase(key);
  }
  events_[event.revision()] = text(event);
}

void CrashLedger::check_acknowledged(std::vector<std::string>& wrong) {
  for (const auto& [revision, record] : acknowledged_) {
    for (const char half : {'a', 'b'}) {
      const Revision at(revision.number() - (half == 'a' ? 1 : 0));
      const auto event = events_.find(at);
      const std::string want =
          text(crash_key(record.writer, record.slot, half), record.serial, record.deletes != 0);
      if (event == events_.end()) {
        wrong.push_back("lost: " + want + " was acknowledged at revision " + at.text());
      } else if (event->second != want) {
        wrong.push_back("revision " + at.text() + " holds another write than " + want);
      }
    }
  }
}

std::vector<std::string> CrashLedger::check(Store& store) {
  std::vector<std::string> wrong;
  auto watch = store.watch({{}, watched_});
  if (!watch) return {"the watcher cannot resume: " + watch.error().message};
  events_.clear();
  for (;;) {
    auto events = (*watch)->next(64);
    if (!events) return {"the watch ended: " + events.error().message};
    if (events->empty()) break;
    for (const EventPtr& event : *events) check_event(*event, wrong);
  }
  if (watched_ != store.revision()) {
    wrong.push_back("the log ends at " + watched_.text() + ", the store at " +
                    store.revision().text());
  }
  check_acknowledged(wrong);
  acknowledged_.clear();
  intents_.clear();

  std::map<std::string, std::string> stored;
  const auto scanned = store.snapshot()->scan({}, std::nullopt, [&stored](const RecordPtr& record) {
    stored[record->key] = *record->value;
    return true;
  });
  if (!scanned) wrong.push_back(scanned.error().message);
  if (stored != model_) wrong.push_back("the state is not what the events add up to");
  for (const auto& [key, value] : stored) {
    std::string twin = key;
    twin.back() = twin.back() == 'a' ? 'b' : 'a';
    if (!stored.count(twin) || stored[twin] != value) wrong.push_back("torn transaction at " + key);
  }
  return wrong;
}

}  // namespace krater::storage::testing
