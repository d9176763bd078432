#include "cli/admin.h"

#include "base/strings.h"
#include "cli/files.h"

namespace krater::cli {

std::string server_url_file(const std::string& data_dir) {
  return data_dir + "/server-url";
}

Result<api::Pki> load_pki(const std::string& data_dir, WallTime now) {
  if (!exists(data_dir + "/pki/ca.crt")) {
    return make_error(Code::NotFound,
                      "no cluster in " + data_dir + ": `krater dev` or `krater server` makes one");
  }
  return api::load_or_create_pki(data_dir + "/pki", {}, now);
}

Result<Admin> load_admin(const std::string& data_dir, WallTime now) {
  TRY_ASSIGN(const api::Pki pki, load_pki(data_dir, now));
  TRY_ASSIGN(const std::string url, read_file(server_url_file(data_dir)));
  Admin out;
  out.server_url = trim(url);
  out.ca_pem = pki.authority.certificate_pem();
  TRY_ASSIGN(out.client, pki.authority.issue_client(
                             {"kubernetes-admin", {"system:masters"}},
                             {now - std::chrono::minutes(5), now + std::chrono::hours(24 * 365)}));
  return out;
}

}  // namespace krater::cli
