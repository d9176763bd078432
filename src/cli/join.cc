#include "cli/join.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <optional>

#include "api/auth/pki.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/files.h"
#include "client/http_object_client.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::cli {
namespace {

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
  std::string secret;  // what the server knows: "<id>.<secret>"
  std::string authority_hash;
};

Result<JoinToken> parse_token(const std::string& token) {
  const std::size_t last = token.rfind('.');
  if (last == std::string::npos || std::count(token.begin(), token.end(), '.') != 2 ||
      token.size() - last != 65) {
    return make_error(
        Code::BadRequest,
        "the join token must have the form ID.SECRET.HASH, as `krater token create` prints it");
  }
  return JoinToken{token.substr(0, last), token.substr(last + 1)};
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

Result<runtime::TlsIdentity> join(const AgentOptions& options, const std::string& node_name,
                                  const std::string& directory) {
  TRY_ASSIGN(const JoinToken token, parse_token(options.token));
  TRY_ASSIGN(const std::string ca_pem, fetch_authority(options.server_url, token.authority_hash));
  TRY_ASSIGN(const api::CertificateRequest csr,
             api::make_certificate_request({"system:node:" + node_name, {"system:nodes"}}));
  HttpRequest request;
  request.method = "POST";
  request.url = options.server_url + "/krater/v1/join";
  request.headers = {{"Content-Type", "application/json"},
                     {"Authorization", "Bearer " + token.secret}};
  JsonObject body{{"nodeName", node_name}, {"csr", csr.request_pem}};
  if (options.runtime == RuntimeKind::Simulated && options.nodes > 1) body["pool"] = true;
  request.body = to_json(body);
  TRY_ASSIGN(const HttpResponse reply, exchange({.ca_pem = ca_pem}, std::move(request)));
  if (reply.status >= 300) return client::error_from_reply(reply);
  TRY_ASSIGN(const Json answer, parse_json(reply.body));
  runtime::TlsIdentity out{ca_pem, text_at(answer, {"certificate"}), csr.key_pem};
  if (out.certificate_pem.empty())
    return make_error(Code::Internal, "the server's answer holds no certificate");
  TRY(make_directory(directory, 0700));
  TRY(write_file(directory + "/ca.crt", out.ca_pem, 0600));
  TRY(write_file(directory + "/node.key", out.key_pem, 0600));
  TRY(write_file(directory + "/node.crt", out.certificate_pem,
                 0600));  // last: its presence says "joined"
  log::info("agent.joined", {{"node", node_name}, {"server", options.server_url}});
  return out;
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

Result<runtime::TlsIdentity> join_cluster(const AgentOptions& options, const std::string& node_name,
                                          WallTime now) {
  const std::string directory = options.data_dir + "/node-pki";
  const Result<std::string> certificate = read_file(directory + "/node.crt");
  if (certificate && api::covers(*certificate, {}, now)) {
    TRY_ASSIGN(std::string ca_pem, read_file(directory + "/ca.crt"));
    TRY_ASSIGN(std::string key_pem, read_file(directory + "/node.key"));
    return runtime::TlsIdentity{std::move(ca_pem), *certificate, std::move(key_pem)};
  }
  if (options.token.empty()) {
    return make_error(Code::Unauthorized, "this node has no valid certificate in " + directory +
                                              ": give --token (from `krater token create`)");
  }
  return join(options, node_name, directory);
}

}  // namespace krater::cli
