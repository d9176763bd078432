#include "cli/guards.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "api/encryption/config.h"
#include "base/log.h"
#include "cli/files.h"

namespace krater::cli {
namespace {

constexpr const char* kOff = "off";

std::string own_file(const std::string& data_dir) {
  return data_dir + "/pki/secrets-encryption.yaml";
}

Error in_file(const std::string& path, Error error) {
  error.message = path + ": " + error.message;
  return error;
}

}  // namespace

void add_guard_options(CLI::App& verb, GuardOptions& options) {
  verb.add_option(
      "--encryption-provider-config", options.encryption_config,
      "EncryptionConfiguration file, or `off` (default: the data directory's own, which "
      "seals Secrets)");
  verb.add_flag("--encryption-provider-config-automatic-reload", options.encryption_reload,
                "use new keys of that file without a restart");
  verb.add_option("--audit-policy-file", options.audit_policy,
                  "audit policy; without it no audit log is written")
      ->check(CLI::ExistingFile);
  verb.add_option("--audit-log-path", options.audit_log,
                  "file of the audit log, `-` for standard output");
  verb.add_option("--audit-log-maxage", options.audit_max_age_days,
                  "days to keep rotated audit logs; 0: for ever")
      ->check(CLI::Range(0, 36500))
      ->capture_default_str();
  verb.add_option("--audit-log-maxbackup", options.audit_max_backups,
                  "rotated audit logs to keep; 0: all")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb.add_option("--audit-log-maxsize", options.audit_max_size_mb,
                  "megabytes at which the audit log is rotated; 0: never")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb.add_option("--max-requests-inflight", options.max_requests,
                  "reading requests at once, shared fairly by their clients; 0: no limit")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb.add_option("--max-mutating-requests-inflight", options.max_mutating_requests,
                  "writing requests at once, shared fairly by their clients; 0: no limit")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
}

Result<OpenedSealer> open_sealer(const std::string& data_dir, const GuardOptions& options) {
  OpenedSealer out{options.encryption_config};
  if (out.path == kOff) return OpenedSealer();
  if (out.path.empty()) {
    out.path = own_file(data_dir);
    if (!exists(out.path)) {
      TRY(write_file(out.path, api::encryption::new_config_text(), 0600));
      log::info("secrets.key_created", {{"file", out.path}});
    }
  }
  TRY_ASSIGN(out.text, read_file(out.path));
  Result<api::encryption::Config> config = api::encryption::parse_config(out.text);
  if (!config) return in_file(out.path, std::move(config).error());
  out.sealer = std::make_shared<api::encryption::ObjectSealer>(*std::move(config));
  return out;
}

Result<void> refresh_seals(storage::Store& store, const api::encryption::ObjectSealer& sealer) {
  const std::vector<std::string> stale = sealer.take_stale();
  if (stale.empty()) return {};
  TRY_ASSIGN(const std::size_t written, api::encryption::rewrite(store, stale));
  log::info("secrets.sealed_anew", {{"objects", written}});
  return {};
}

Result<std::unique_ptr<api::Auditing>> open_audit(const GuardOptions& options, Loop& loop,
                                                  const WallClock& clock) {
  if (options.audit_policy.empty() != options.audit_log.empty()) {
    return make_error(Code::BadRequest,
                      "--audit-policy-file and --audit-log-path go together: one is missing");
  }
  if (options.audit_policy.empty()) return std::unique_ptr<api::Auditing>();
  TRY_ASSIGN(const std::string text, read_file(options.audit_policy));
  Result<api::audit::Policy> policy = api::audit::parse_policy(text);
  if (!policy) return in_file(options.audit_policy, std::move(policy).error());
  api::audit::LogSettings settings;
  settings.path = options.audit_log;
  settings.max_age_days = options.audit_max_age_days;
  settings.max_backups = options.audit_max_backups;
  settings.max_size_mb = options.audit_max_size_mb;
  TRY_ASSIGN(std::shared_ptr<api::audit::AuditLog> log,
             api::audit::AuditLog::open(std::move(settings), loop, clock));
  return std::make_unique<api::Auditing>(api::Auditing{*std::move(policy), std::move(log)});
}

}  // namespace krater::cli
