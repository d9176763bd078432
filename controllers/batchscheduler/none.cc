// No batch scheduler: nothing is written, nothing is marked.
#include "controllers/batchscheduler/batch_scheduler.h"

namespace krater::controllers {
namespace {

class None final : public BatchScheduler {
 public:
  const Kind* gang_kind() const override { return nullptr; }
  std::string gang_name(const Object&) const override { return {}; }
  Result<std::optional<PlannedWrite>> sync(const Object&, const GangSize&,
                                           const ObjectPtr&) const override {
    return std::optional<PlannedWrite>();
  }
  std::optional<PlannedWrite> resize(const GangSize&, const ObjectPtr&) const override {
    return std::nullopt;
  }
  std::optional<PlannedWrite> follow_owner(const Object&, const ObjectPtr&) const override {
    return std::nullopt;
  }
  void mark_child(const Object&, ChildKind, std::string_view, Json&) const override {}
};

}  // namespace

std::unique_ptr<BatchScheduler> make_no_batch_scheduler() {
  return std::make_unique<None>();
}

}  // namespace krater::controllers
