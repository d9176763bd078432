#include "cli/node_credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "api/auth/certificate_request.h"
#include "api/auth/pki.h"
#include "cli/files.h"

namespace krater::cli {
namespace {

WallTime written_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return WallTime::from_unix_seconds(0);
  return WallTime::from_unix_seconds(info.st_mtim.tv_sec);
}

// A node of its own asks for no other group; one certificate for many nodes has one more.
bool is_single_node(const std::string& certificate_pem) {
  const Result<api::Subject> subject = api::subject_of(certificate_pem);
  return subject && subject->organizations == std::vector<std::string>{"system:nodes"};
}

std::optional<NodeCredentials> credentials(std::string ca_pem, std::string certificate_pem,
                                           std::string key_pem, WallTime since, WallTime now) {
  const Result<api::Validity> validity = api::validity_of(certificate_pem);
  if (!validity || now < validity->from || validity->until <= now) return std::nullopt;
  NodeCredentials out;
  out.life = {std::max(since, validity->from), validity->until};
  out.renews = is_single_node(certificate_pem);
  out.identity = {std::move(ca_pem), std::move(certificate_pem), std::move(key_pem)};
  return out;
}

}  // namespace

std::optional<NodeCredentials> CredentialFiles::load(WallTime now) const {
  const Result<std::string> ca_pem = read_file(directory_ + "/ca.crt");
  if (!ca_pem) return std::nullopt;
  const std::string both = directory_ + "/node.pem";
  if (const Result<std::string> text = read_file(both)) {
    const std::size_t key = text->find("-----BEGIN PRIVATE KEY-----");
    if (key == std::string::npos) return std::nullopt;
    return credentials(*ca_pem, text->substr(0, key), text->substr(key), written_at(both), now);
  }
  // As nodes that joined by the earlier way have them.
  const std::string certificate = directory_ + "/node.crt";
  const Result<std::string> pem = read_file(certificate);
  const Result<std::string> key = read_file(directory_ + "/node.key");
  if (!pem || !key) return std::nullopt;
  return credentials(*ca_pem, *pem, *key, written_at(certificate), now);
}

Result<void> CredentialFiles::store(const runtime::TlsIdentity& identity) const {
  TRY(make_directory(directory_, 0700));
  TRY(write_file(directory_ + "/ca.crt", identity.ca_pem, 0600));
  TRY(write_file(directory_ + "/node.pem", identity.certificate_pem + identity.key_pem, 0600));
  drop_pending_key();
  ::unlink((directory_ + "/node.crt").c_str());
  ::unlink((directory_ + "/node.key").c_str());
  return {};
}

std::string CredentialFiles::pending_key() const {
  return read_file(directory_ + "/pending.key").value_or("");
}

Result<void> CredentialFiles::keep_pending_key(const std::string& key_pem) const {
  TRY(make_directory(directory_, 0700));
  return write_file(directory_ + "/pending.key", key_pem, 0600);
}

void CredentialFiles::drop_pending_key() const {
  ::unlink((directory_ + "/pending.key").c_str());
}

}  // namespace krater::cli
