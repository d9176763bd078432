#include "runtime/connection.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/error.hpp>

#include "runtime/tls.h"

namespace krater::runtime {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

Result<Endpoint> parse_url(const std::string& url) {
  Endpoint out;
  std::string_view rest = url;
  const std::size_t scheme_end = rest.find("://");
  const std::string_view scheme =
      rest.substr(0, scheme_end == std::string_view::npos ? 0 : scheme_end);
  if (scheme == "https" || scheme == "wss") {
    out.tls = true;
  } else if (scheme != "http" && scheme != "ws") {
    return make_error(Code::BadRequest, "unsupported URL \"" + url + "\"");
  }
  rest.remove_prefix(scheme_end + 3);
  const std::size_t path = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, path);
  out.target = path == std::string_view::npos ? "/" : std::string(rest.substr(path));
  if (out.target.front() == '?') out.target.insert(out.target.begin(), '/');
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos)
      return make_error(Code::BadRequest, "bad host in \"" + url + "\"");
    out.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
  } else {
    out.host = authority.substr(0, authority.find(':'));
    authority.remove_prefix(out.host.size());
  }
  out.port = authority.starts_with(':') ? std::string(authority.substr(1)) : out.tls ? "443" : "80";
  if (out.host.empty() || out.port.empty())
    return make_error(Code::BadRequest, "bad host in \"" + url + "\"");
  return out;
}

std::shared_ptr<asio::ssl::context> make_client_tls(const TlsIdentity& identity) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  context->set_options(asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                       asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context->set_verify_mode(identity.verify ? asio::ssl::verify_peer : asio::ssl::verify_none);
  if (identity.ca_pem.empty()) {
    context->set_default_verify_paths();
  } else {
    context->add_certificate_authority(asio::buffer(identity.ca_pem));
  }
  if (!identity.certificate_pem.empty()) {
    context->use_certificate_chain(asio::buffer(identity.certificate_pem));
    context->use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem);
  }
  return context;
}

Error connection_error(const boost::system::error_code& problem, const Endpoint& endpoint) {
  if (problem == beast::error::timeout)
    return make_error(Code::Timeout, endpoint.authority() + ": timed out");
  return make_error(Code::Unavailable, endpoint.authority() + ": " + problem.message());
}

namespace {

// What is wrong with the peer's certificate, when that is what it is.
Error handshake_error(const boost::system::error_code& problem, TlsStream& stream,
                      const Endpoint& endpoint) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  if (problem == beast::error::timeout || verdict == X509_V_OK)
    return connection_error(problem, endpoint);
  std::string why = X509_verify_cert_error_string(verdict);
  if (verdict == X509_V_ERR_UNSPECIFIED || verdict == X509_V_ERR_APPLICATION_VERIFICATION)
    why = "it is not for " + endpoint.host;
  return make_error(Code::Unavailable,
                    endpoint.authority() + ": certificate verify failed: " + why);
}

}  // namespace

asio::awaitable<Result<ConnectionPtr>> connect(const Endpoint& endpoint,
                                               std::shared_ptr<asio::ssl::context> tls,
                                               std::chrono::steady_clock::time_point deadline,
                                               std::shared_ptr<ConnectionPtr> slot) {
  const auto executor = co_await asio::this_coro::executor;
  auto made = std::make_shared<Connection>();
  if (endpoint.tls) {
    if (!tls) co_return make_error(Code::Internal, "no TLS identity for " + endpoint.authority());
    made->tls = std::make_unique<TlsStream>(beast::tcp_stream(executor), *tls);
    made->context = tls;
  } else {
    made->plain = std::make_unique<beast::tcp_stream>(executor);
  }
  *slot = made;
  made->tcp().expires_at(deadline);

  std::vector<std::pair<std::string, std::string>> names = endpoint.places;
  if (names.empty()) names.emplace_back(endpoint.host, endpoint.port);
  std::vector<tcp::endpoint> places;
  for (const auto& name : names) {
    boost::system::error_code problem;
    const asio::ip::address numeric = asio::ip::make_address(name.first, problem);
    if (!problem) {
      places.emplace_back(numeric, static_cast<unsigned short>(std::atoi(name.second.c_str())));
      continue;
    }
    tcp::resolver resolver(executor);
    auto [resolve_problem, results] =
        co_await resolver.async_resolve(name.first, name.second, kNoThrow);
    if (resolve_problem) co_return connection_error(resolve_problem, endpoint);
    for (const auto& result : results) places.push_back(result.endpoint());
  }
  auto [connect_problem, where] = co_await made->tcp().async_connect(places, kNoThrow);
  if (connect_problem) co_return connection_error(connect_problem, endpoint);
  boost::system::error_code ignored;
  made->tcp().socket().set_option(tcp::no_delay(true), ignored);
  if (made->tls) {
    SSL_set_tlsext_host_name(made->tls->native_handle(), endpoint.host.c_str());
    made->tls->set_verify_callback(asio::ssl::host_name_verification(endpoint.host));
    auto [handshake_problem] =
        co_await made->tls->async_handshake(asio::ssl::stream_base::client, kNoThrow);
    if (handshake_problem) co_return handshake_error(handshake_problem, *made->tls, endpoint);
  }
  co_return made;
}

}  // namespace krater::runtime
