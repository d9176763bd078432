// DATA/pki on disk. The only part of this folder that touches files; runs before any thread is
// started.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "api/auth/openssl.h"
#include "api/auth/pki.h"

namespace krater::api {
namespace {

namespace fs = std::filesystem;

constexpr auto kDay = 24h;
constexpr auto kAuthorityLife = kDay * 3650;
constexpr auto kServerLife = kDay * 365;
constexpr auto kRenewBefore = kDay * 30;
constexpr auto kSkew = 5min;  // certificates are valid a little before now: clocks differ

Error io_error(const std::string& what, const std::string& path) {
  return make_error(Code::Internal, what + " " + path + ": " + std::strerror(errno));
}

Result<std::optional<std::string>> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    if (errno == ENOENT) return std::optional<std::string>();
    return io_error("cannot read", path);
  }
  std::ostringstream text;
  text << in.rdbuf();
  return std::optional<std::string>(text.str());
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return io_error("cannot create", temporary);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    done += static_cast<std::size_t>(n);
  }
  const bool written = done == text.size() && ::fsync(fd) == 0;
  Error failed = written ? Error{} : io_error("cannot write", temporary);
  ::close(fd);
  if (!written) return failed;
  if (::rename(temporary.c_str(), path.c_str()) != 0) return io_error("cannot rename to", path);
  return {};
}

// Both files, neither (nullopt), or an error.
Result<std::optional<CertifiedKey>> read_pair(const std::string& base) {
  TRY_ASSIGN(std::optional<std::string> certificate, read_file(base + ".crt"));
  TRY_ASSIGN(std::optional<std::string> key, read_file(base + ".key"));
  if (!certificate && !key) return std::optional<CertifiedKey>();
  if (!certificate || !key) {
    return make_error(Code::Internal, base + (certificate ? ".key" : ".crt") +
                                          " is missing while " + base +
                                          (certificate ? ".crt" : ".key") +
                                          " is there: restore it, or remove both");
  }
  return std::optional<CertifiedKey>(CertifiedKey{*std::move(certificate), *std::move(key)});
}

// The key first: a crash in between leaves a key without a certificate, which read_pair reports for
// the authority and which load_server below simply replaces.
Result<void> write_pair(const std::string& base, const CertifiedKey& pair) {
  TRY(write_file(base + ".key", pair.key_pem));
  return write_file(base + ".crt", pair.certificate_pem);
}

Result<CertificateAuthority> load_authority(const std::string& base, WallTime now) {
  TRY_ASSIGN(std::optional<CertifiedKey> stored, read_pair(base));
  if (stored) return CertificateAuthority::load(*std::move(stored));
  TRY_ASSIGN(CertificateAuthority made,
             CertificateAuthority::create("krater-ca", {now - kSkew, now + kAuthorityLife}));
  TRY(write_pair(base, {made.certificate_pem(), made.key_pem()}));
  return made;
}

Result<CertifiedKey> load_server(const std::string& base, const CertificateAuthority& authority,
                                 const std::vector<std::string>& names, WallTime now) {
  const Result<std::optional<CertifiedKey>> stored = read_pair(base);
  if (stored && *stored && covers((*stored)->certificate_pem, names, now + kRenewBefore))
    return **stored;
  TRY_ASSIGN(CertifiedKey made, authority.issue_server(names, {now - kSkew, now + kServerLife}));
  TRY(write_pair(base, made));
  return made;
}

Result<std::string> load_service_account_key(const std::string& path) {
  TRY_ASSIGN(std::optional<std::string> stored, read_file(path));
  if (stored) return *std::move(stored);
  TRY_ASSIGN(openssl::KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(std::string pem, openssl::to_pem(key.get()));
  TRY(write_file(path, pem));
  return pem;
}

}  // namespace

Result<Pki> load_or_create_pki(const std::string& directory,
                               const std::vector<std::string>& server_names, WallTime now) {
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (problem)
    return make_error(Code::Internal, "cannot create " + directory + ": " + problem.message());
  if (::chmod(directory.c_str(), 0700) != 0) return io_error("cannot protect", directory);
  TRY_ASSIGN(CertificateAuthority authority, load_authority(directory + "/ca", now));
  TRY_ASSIGN(CertifiedKey server, load_server(directory + "/server", authority, server_names, now));
  TRY_ASSIGN(std::string signer, load_service_account_key(directory + "/sa.key"));
  return Pki{std::move(authority), std::move(server), std::move(signer)};
}

}  // namespace krater::api
