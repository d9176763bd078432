#include "cli/join.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <optional>

#include "agent/identity/certificate_asker.h"
#include "api/auth/certificate_request.h"
#include "api/auth/pki.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/files.h"
#include "client/http_object_client.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"
#include "runtime/system.h"

namespace krater::cli {
namespace {

// Somebody may have to be found who approves.
constexpr Duration kPatience = std::chrono::minutes(15);

Result<HttpResponse> exchange(const runtime::TlsIdentity& identity, HttpRequest request) {
  runtime::AsioLoop loop;
  const auto http = runtime::make_http_client(loop, identity);
  std::optional<Result<HttpResponse>> reply;
  std::unique_ptr<HttpExchange> pending;
  loop.post([&] {
    pending = http->send(std::move(request), [&](Result<HttpResponse> got) {
      reply = std::move(got);
      loop.stop();
    });
  });
  loop.run();
  return *std::move(reply);
}

struct JoinToken {
  std::string secret;            // what the server knows: "<id>.<secret>"
  std::string authority_hash{};  // empty: the authority is given otherwise
};

Result<JoinToken> parse_token(const AgentOptions& options) {
  const std::vector<std::string_view> parts = split(options.token, '.');
  if (parts.size() == 3 && parts[2].size() == 64)
    return JoinToken{std::string(parts[0]) + "." + std::string(parts[1]), std::string(parts[2])};
  if (parts.size() == 2 && !options.certificate_authority.empty()) return JoinToken{options.token};
  return make_error(Code::BadRequest,
                    "the join token must have the form ID.SECRET.HASH, as `krater token create` "
                    "prints it, or ID.SECRET with --certificate-authority");
}

Result<std::string> fetch_authority(const std::string& server_url, const std::string& wanted_hash) {
  HttpRequest request;
  request.url = server_url + "/krater/v1/ca";
  TRY_ASSIGN(const HttpResponse reply, exchange({.verify = false}, std::move(request)));
  if (reply.status != 200) return client::error_from_reply(reply);
  if (authority_hash(reply.body) != wanted_hash) {
    return make_error(
        Code::Forbidden,
        server_url + " presents another authority than the one the token was made for");
  }
  return reply.body;
}

Result<std::string> trusted_authority(const AgentOptions& options, const JoinToken& token) {
  if (!options.certificate_authority.empty()) return read_file(options.certificate_authority);
  return fetch_authority(options.server_url, token.authority_hash);
}

// One certificate for many simulated nodes has a form that no CertificateSigningRequest may ask
// for: the server makes it itself.
Result<runtime::TlsIdentity> join_as_pool(const AgentOptions& options, const JoinToken& token,
                                          const std::string& ca_pem) {
  TRY_ASSIGN(const api::CertificateRequest csr,
             api::make_certificate_request({"system:node:" + options.node_name, {"system:nodes"}}));
  HttpRequest request;
  request.method = "POST";
  request.url = options.server_url + "/krater/v1/join";
  request.headers = {{"Content-Type", "application/json"},
                     {"Authorization", "Bearer " + token.secret}};
  request.body = to_json(
      JsonObject{{"nodeName", options.node_name}, {"csr", csr.request_pem}, {"pool", true}});
  TRY_ASSIGN(const HttpResponse reply, exchange({.ca_pem = ca_pem}, std::move(request)));
  if (reply.status >= 300) return client::error_from_reply(reply);
  TRY_ASSIGN(const Json answer, parse_json(reply.body));
  runtime::TlsIdentity out{ca_pem, text_at(answer, {"certificate"}), csr.key_pem};
  if (out.certificate_pem.empty())
    return make_error(Code::Internal, "the server's answer holds no certificate");
  return out;
}

Result<std::string> ask(const AgentOptions& options, const JoinToken& token,
                        const std::string& ca_pem, const std::string& name,
                        const std::string& request_pem) {
  runtime::AsioLoop loop;
  runtime::SystemRng rng;
  const auto http = runtime::make_http_client(loop, runtime::TlsIdentity{.ca_pem = ca_pem});
  const auto client =
      client::make_http_object_client(*http, loop, rng, {options.server_url, token.secret});
  agent::CertificateAsker asker(*client, loop, kPatience);
  std::optional<Result<std::string>> answer;
  loop.post([&] {
    asker.ask(name, request_pem, [&](Result<std::string> got) {
      answer = std::move(got);
      loop.stop();
    });
  });
  loop.run();
  return *std::move(answer);
}

// The key is kept before it is asked for: who is stopped while he waits goes on waiting with the
// same request, whose name derives from the key.
Result<runtime::TlsIdentity> join_by_request(const AgentOptions& options, const JoinToken& token,
                                             const std::string& ca_pem,
                                             const CredentialFiles& files) {
  const api::Subject subject{"system:node:" + options.node_name, {"system:nodes"}};
  api::CertificateRequest request;
  if (const std::string before = files.pending_key(); !before.empty()) {
    TRY_ASSIGN(request, api::request_with_key(subject, before));
  } else {
    TRY_ASSIGN(request, api::make_certificate_request(subject));
    TRY(files.keep_pending_key(request.key_pem));
  }
  TRY_ASSIGN(const std::string digest, api::key_digest(request.key_pem));
  const Result<std::string> certificate =
      ask(options, token, ca_pem, "node-csr-" + digest, request.request_pem);
  if (!certificate) {
    const Code code = certificate.error().code;
    if (code == Code::Forbidden || code == Code::Invalid) files.drop_pending_key();
    return certificate.error();
  }
  return runtime::TlsIdentity{ca_pem, *certificate, request.key_pem};
}

}  // namespace

std::string authority_hash(const std::string& ca_pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())), BIO_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!certificate || X509_digest(certificate.get(), EVP_sha256(), digest, &size) != 1) return {};
  return hex_encode({reinterpret_cast<const char*>(digest), size});
}

Result<NodeCredentials> join_cluster(const AgentOptions& options, WallTime now) {
  const CredentialFiles files(options.data_dir);
  if (std::optional<NodeCredentials> found = files.load(now)) return *std::move(found);
  if (options.token.empty()) {
    return make_error(Code::Unauthorized, "this node has no valid certificate in " +
                                              files.directory() +
                                              ": give --token (from `krater token create`)");
  }
  TRY_ASSIGN(const JoinToken token, parse_token(options));
  TRY_ASSIGN(const std::string ca_pem, trusted_authority(options, token));
  const bool pool = options.runtime == RuntimeKind::Simulated && options.nodes > 1;
  runtime::TlsIdentity identity;
  if (pool) {
    TRY_ASSIGN(identity, join_as_pool(options, token, ca_pem));
  } else {
    TRY_ASSIGN(identity, join_by_request(options, token, ca_pem, files));
  }
  TRY(files.store(identity));
  log::info("agent.joined", {{"node", options.node_name}, {"server", options.server_url}});
  std::optional<NodeCredentials> out = files.load(runtime::SystemClock().now());
  if (!out)
    return make_error(Code::Unauthorized,
                      "the certificate is not valid now: does this machine's clock differ from "
                      "the server's?");
  return *std::move(out);
}

}  // namespace krater::cli
