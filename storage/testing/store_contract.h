// The contract of storage/store.h as one suite. Instantiate it for every backend and decorator:
//   INSTANTIATE_TEST_SUITE_P(Disk, StoreContract, ::testing::Values(NamedMedium{...}),
//   contract_name);
// Link store_contract.cc; the stories are there.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "storage/testing/medium.h"
#include "storage/testing/store_fixture.h"

namespace krater::storage::testing {

class StoreContract : public ::testing::TestWithParam<NamedMedium> {
 protected:
  // Opens the store (again): the one before is closed first.
  Store& open(OpenOptions tuning = {});
  Store& store() { return store_ ? *store_ : open(); }
  // An empty medium from now on.
  void start_over();
  // So small that nearly everything old has to come from disk.
  static OpenOptions forgetful();

 private:
  std::unique_ptr<Medium> medium_ = GetParam().make();
  std::unique_ptr<Store> store_;
};

inline std::string contract_name(const ::testing::TestParamInfo<NamedMedium>& info) {
  return info.param.name;
}

}  // namespace krater::storage::testing
