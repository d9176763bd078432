// Objects of the configured resources are sealed on their way to the disk and opened on their way
// back, in Kubernetes' form: "k8s:enc:<provider>:v1:<key name>:" and the bytes of the cipher. Any
// thread.
#pragma once

#include <functional>
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
  explicit ObjectSealer(Config config)
      : configs_{std::make_shared<const Config>(std::move(config))} {}

  std::optional<std::string> seal(std::string_view key, std::string_view value) const override;
  Result<std::optional<std::string>> open(std::string_view key,
                                          std::string_view stored) const override;

  // From now on this one seals. What the earlier ones opened can be read until the process ends:
  // history on disk is still written with their keys. Returns whether an object of a resource must
  // be written anew.
  std::function<bool(std::string_view resource)> exchange(Config config);

  // The keys of objects that were found written otherwise than they would be now: with an earlier
  // key, or plainly. Once, after the store has been opened.
  std::vector<std::string> take_stale() const;

 private:
  using ConfigPtr = std::shared_ptr<const Config>;
  std::vector<ConfigPtr> configs() const;
  Result<std::optional<std::string>> open_with(const Config& config, std::string_view key,
                                               std::string_view stored) const;

  mutable std::mutex mutex_;
  std::vector<ConfigPtr> configs_;  // the one in force first
  mutable bool collecting_ = true;
  mutable std::set<std::string> stale_;
};

// Writes these objects again as they are, each at a new revision, so that the keys they were sealed
// with can go. Blocks; what others write meanwhile is theirs. Returns how many were written.
Result<std::size_t> rewrite(storage::Store& store, const std::vector<std::string>& keys);

}  // namespace krater::api::encryption
