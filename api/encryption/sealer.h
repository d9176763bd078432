// Objects of the configured resources are sealed on their way to the disk and opened on their way
// back, in Kubernetes' form: "k8s:enc:<provider>:v1:<key name>:" and the bytes of the cipher. Any
// thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/encryption/config.h"
#include "storage/sealer.h"
#include "storage/store.h"

namespace krater::api::encryption {

class ObjectSealer final : public storage::Sealer {
 public:
  explicit ObjectSealer(Config config) : config_(std::move(config)) {}

  std::optional<std::string> seal(std::string_view key, std::string_view value) const override;
  Result<std::optional<std::string>> open(std::string_view key,
                                          std::string_view stored) const override;

  // The keys of objects that were found written otherwise than they would be now: with an earlier
  // key, or plainly. Once, after the store has been opened.
  std::vector<std::string> take_stale() const;

 private:
  Config config_;
  mutable std::mutex mutex_;
  mutable bool collecting_ = true;
  mutable std::set<std::string> stale_;
};

// Writes these objects again as they are, each at a new revision, so that the keys they were sealed
// with can go. Blocks; before serving. Returns how many were written.
Result<std::size_t> rewrite(storage::Store& store, const std::vector<std::string>& keys);

}  // namespace krater::api::encryption
