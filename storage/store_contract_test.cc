#include "storage/testing/store_contract.h"

namespace krater::storage::testing {

INSTANTIATE_TEST_SUITE_P(
    Rocksdb, StoreContract,
    ::testing::Values(NamedMedium{"OnDisk", [] { return std::make_unique<DiskMedium>(); }},
                      NamedMedium{"InMemory", [] { return std::make_unique<MemoryMedium>(); }}),
    contract_name);

}  // namespace krater::storage::testing
