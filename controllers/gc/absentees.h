// Owners that are certainly gone. A uid never comes back, so "gone" stays true; what the cache does
// not show may merely be late, so it is asked for at the source before anything is deleted because
// of it. Control loop only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/object_client.h"
#include "controllers/loop/controller_loop.h"

namespace krater::controllers {

class Absentees {
 public:
  Absentees(client::ObjectClient& client, Enqueue wake) : client_(client), wake_(std::move(wake)) {}
  ~Absentees() { *alive_ = false; }
  Absentees(const Absentees&) = delete;
  Absentees& operator=(const Absentees&) = delete;

  void mark(const Uid& uid);
  bool knows(const Uid& uid) const { return gone_.contains(uid); }
  // True once when the last answer for this uid was "it is there".
  bool take_present(const Uid& uid) { return present_.erase(uid) > 0; }
  // Asks once at a time for a uid; all who asked are woken by the answer. No answer: they come back
  // by themselves.
  void ask(const Kind& kind, const std::string& name_space, const std::string& name, const Uid& uid,
           const ObjectKey& who);

 private:
  static constexpr std::size_t kRemembered = 100'000;

  client::ObjectClient& client_;
  Enqueue wake_;
  std::unordered_set<Uid> gone_, present_;
  std::deque<Uid> order_;  // of gone_, oldest first
  std::unordered_map<Uid, std::vector<ObjectKey>> asking_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::controllers
