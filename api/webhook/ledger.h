// What webhooks have said about one request so far. A write is prepared without waiting for
// anybody: what is not known yet is noted here as a question, the preparation is given up, and when
// the answers are in it is done again, with the same chance and the same time, and finds them. Used
// by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/webhook/hook.h"
#include "api/webhook/review.h"

namespace krater::api {

struct HookQuestion {
  HookPtr hook;
  std::string request;    // an AdmissionRequest without its uid
  std::string operation;  // "CREATE", for metrics
};

class HookLedger {
 public:
  // The verdict, or null: it has been noted that it is wanted.
  const HookVerdict* ask(HookPtr hook, std::string request, std::string_view operation);
  // Whether answers are missing; what was prepared meanwhile counts for nothing.
  bool waiting() const { return waiting_; }
  // The questions that are open, some at a time; none is noted any more.
  std::vector<HookQuestion> take_open();
  void enter(const HookQuestion& question, HookVerdict verdict);

 private:
  using Key = std::pair<std::string, std::string>;  // hook, request
  std::map<Key, HookVerdict> known_;
  std::map<Key, HookQuestion> open_;
  bool waiting_ = false;
};

}  // namespace krater::api
