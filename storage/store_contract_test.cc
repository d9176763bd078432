#include "storage/testing/store_contract.h"

#include "base/env.h"
#include "storage/faulty_store.h"

namespace krater::storage::testing {
namespace {

// The fault-injecting decorator with its faults off must be transparent.
class DecoratedMedium final : public Medium {
 public:
  Result<std::unique_ptr<Store>> open(OpenOptions tuning) override {
    TRY_ASSIGN(std::unique_ptr<Store> inner, memory_.open(std::move(tuning)));
    return std::unique_ptr<Store>(std::make_unique<FaultyStore>(std::move(inner), rng_, Faults{}));
  }

 private:
  SeededRng rng_{1};
  MemoryMedium memory_;
};

template <typename M>
NamedMedium named(std::string name) {
  return {std::move(name), [] { return std::make_unique<M>(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Rocksdb, StoreContract,
                         ::testing::Values(named<DiskMedium>("OnDisk"),
                                           named<MemoryMedium>("InMemory")),
                         contract_name);
INSTANTIATE_TEST_SUITE_P(Faulty, StoreContract,
                         ::testing::Values(named<DecoratedMedium>("Decorated")), contract_name);

}  // namespace krater::storage::testing
