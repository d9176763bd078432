#include "cli/key_reload.h"

#include <set>

#include "api/auth/openssl.h"
#include "api/encryption/config.h"
#include "api/registry/keys.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/files.h"

namespace krater::cli {
namespace {

constexpr Duration kPeriod = std::chrono::seconds(10);

// The store keys of every object whose resource is to be sealed otherwise.
Result<std::vector<std::string>> objects_of(
    const storage::Store& store, const api::SchemaSet& schemas,
    const std::function<bool(std::string_view resource)>& chosen) {
  std::set<std::string> resources;
  for (const api::KindSchemaPtr& schema : schemas.all())
    resources.insert(schema->stored_kind().resource());
  const storage::SnapshotPtr now = store.snapshot();
  std::vector<std::string> out;
  for (const std::string& resource : resources) {
    if (!chosen(resource)) continue;
    TRY(now->scan(api::store_range(resource, ""), {}, [&out](const storage::RecordPtr& record) {
      out.push_back(record->key);
      return true;
    }));
  }
  return out;
}

std::string labels(std::string_view status) {
  static const std::string server = hex_encode(api::openssl::sha256("krater-0"));
  return "apiserver_id_hash=\"sha256:" + server + "\",status=\"" + std::string(status) + "\"";
}

using Samples = std::vector<api::Metrics::Sample>;

}  // namespace

void KeyReload::add_metrics(api::Metrics& to) const {
  const auto pair = [](std::int64_t success, std::int64_t failure) {
    Samples out;
    if (failure != 0) out.push_back({labels("failure"), static_cast<double>(failure)});
    if (success != 0) out.push_back({labels("success"), static_cast<double>(success)});
    return out;
  };
  to.add_family("apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds",
                "Timestamp of the last successful or failed automatic reload of encryption "
                "configuration split by apiserver identity.",
                "gauge", [counters = counters_, pair] {
                  return pair(counters->last_success, counters->last_failure);
                });
  to.add_family("apiserver_encryption_config_controller_automatic_reloads_total",
                "Total number of reload successes and failures of encryption configuration split "
                "by apiserver identity.",
                "counter", [counters = counters_, pair] {
                  return pair(counters->successes, counters->failures);
                });
}

void KeyReload::start() {
  parts_.loop.after(kPeriod, [this] {
    look_and_tell();
    start();
  });
}

void KeyReload::look_and_tell() {
  const Result<bool> changed = look();
  const std::int64_t now = parts_.clock.now().unix_seconds();
  if (!changed) {
    log::error("secrets.keys_not_reloaded", {{"error", changed.error().message}});
    ++counters_->failures;
    counters_->last_failure = now;
  } else if (*changed) {
    ++counters_->successes;
    counters_->last_success = now;
  }
}

Result<bool> KeyReload::look() {
  TRY_ASSIGN(const std::string text, read_file(parts_.path));
  const bool changed = text != parts_.text;
  if (changed) {
    Result<api::encryption::Config> config = api::encryption::parse_config(text);
    if (!config)
      return make_error(config.error().code, parts_.path + ": " + config.error().message);
    const auto chosen = parts_.sealer->exchange(*std::move(config));
    parts_.text = text;
    TRY_ASSIGN(const std::vector<std::string> more,
               objects_of(parts_.store, parts_.schemas, chosen));
    left_.insert(more.begin(), more.end());
  }
  if (!left_.empty()) {
    const std::vector<std::string> keys(left_.begin(), left_.end());
    TRY_ASSIGN(const std::size_t written, api::encryption::rewrite(parts_.store, keys));
    left_.clear();
    log::info("secrets.sealed_anew", {{"objects", written}});
  }
  if (changed) log::info("secrets.keys_reloaded", {{"file", parts_.path}});
  return changed;
}

}  // namespace krater::cli
