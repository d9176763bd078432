#include "cli/hook_transport.h"

#include <boost/system/system_error.hpp>
#include <map>
#include <utility>

#include "base/strings.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::cli {
namespace {

using Places = std::vector<std::pair<std::string, std::string>>;

// Beyond it all are made anew: configurations have come and gone.
constexpr std::size_t kMostClients = 200;

// "name.namespace.svc", which is what api::read_address() has made of a service.
Result<Places> dial_service(const FindService& find, std::size_t turn, const std::string& host,
                            const std::string& port) {
  const std::vector<std::string_view> parts = split(host, '.');
  const auto number = parse_int(port);
  if (parts.size() != 3 || !number)
    return make_error(Code::Unavailable, "no service " + host + ":" + port);
  const api::HookService service{std::string(parts[1]), std::string(parts[0]),
                                 static_cast<int>(*number)};
  TRY_ASSIGN(const std::vector<api::HostPort> all, find(service));
  Places out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const api::HostPort& place = all[(i + turn) % all.size()];
    out.emplace_back(place.host, std::to_string(place.port));
  }
  return out;
}

// In the words of Go's clients, which people look for.
Error worded(Error error, const std::string& authority) {
  const std::string prefix = authority + ": ";
  std::string& text = error.message;
  if (!text.starts_with(prefix)) return error;
  std::string why = text.substr(prefix.size());
  constexpr std::string_view kVerify = "certificate verify failed: ";
  if (why.starts_with(kVerify)) {
    why.erase(0, kVerify.size());
    if (why.find("issuer") != std::string::npos || why.find("self-signed") != std::string::npos ||
        why.find("self signed") != std::string::npos ||
        why.find("first certificate") != std::string::npos) {
      why = "certificate signed by unknown authority";
    } else if (why.find("expired") != std::string::npos) {
      why = "certificate has expired or is not yet valid";
    } else if (why.starts_with("it is not for ")) {
      why = "certificate is not valid for " + why.substr(14);
    }
    text = "tls: failed to verify certificate: x509: " + why;
  } else if (error.code == Code::TooLarge) {
    text = why;
  } else if (to_lower(why).starts_with("host not found")) {
    text = "dial tcp: lookup " + authority.substr(0, authority.rfind(':')) + ": no such host";
  } else if (why == "end of stream" || why == "End of file" || why == "stream truncated") {
    text = "EOF";
  } else {
    text = "dial tcp " + authority + ": connect: " + to_lower(why);
  }
  return error;
}

std::string authority_of(const std::string& url) {
  const std::string rest = url.substr(url.find("://") + 3);
  std::string out = rest.substr(0, rest.find('/'));
  const std::size_t bracket = out.rfind(']');
  const std::size_t colon = out.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  return has_port ? out : out + ":443";
}

class TheTransport final : public api::HookTransport {
 public:
  TheTransport(runtime::AsioLoop& loop, FindService find) : loop_(loop), find_(std::move(find)) {}

  void post(api::HookPost post, Done done) override {
    Result<HttpClient*> client = client_for(post.address);
    if (!client) return done(std::move(client).error());
    const std::uint64_t id = ++last_;
    HttpRequest request;
    request.method = "POST";
    request.url = std::move(post.url);
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json, */*"},
                       {"User-Agent", "kube-apiserver-admission"}};
    request.body = std::move(post.body);
    request.timeout = post.timeout;
    request.max_reply_bytes = post.max_reply_bytes;
    const std::string authority = authority_of(request.url);
    open_[id] =
        (*client)->send(std::move(request),
                        [this, id, authority, done = std::move(done)](Result<HttpResponse> reply) {
                          // Not from within: the exchange is still at work.
                          loop_.post([this, id] { open_.erase(id); });
                          if (!reply) return done(worded(std::move(reply).error(), authority));
                          done(std::move(reply));
                        });
  }

 private:
  Result<HttpClient*> client_for(const api::HookAddress& address) {
    const std::string key = (address.service ? "service\n" : "url\n") + address.ca_pem;
    const auto known = clients_.find(key);
    if (known != clients_.end()) return known->second.get();
    if (clients_.size() >= kMostClients) clients_.clear();
    runtime::TlsIdentity identity;
    identity.ca_pem = address.ca_pem;
    try {
      runtime::Dial dial;
      if (address.service) {
        dial = [this](const std::string& host, const std::string& port) {
          return dial_service(find_, turn_++, host, port);
        };
      }
      return (clients_[key] = runtime::make_http_client(loop_, identity, std::move(dial))).get();
    } catch (const boost::system::system_error& error) {
      clients_.erase(key);
      return make_error(Code::Unavailable,
                        std::string("unable to load root certificates: ") + error.what());
    }
  }

  runtime::AsioLoop& loop_;
  FindService find_;
  std::size_t turn_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::string, std::unique_ptr<HttpClient>> clients_;
  std::map<std::uint64_t, std::unique_ptr<HttpExchange>> open_;
};

}  // namespace

std::unique_ptr<api::HookTransport> make_hook_transport(runtime::AsioLoop& loop, FindService find) {
  return std::make_unique<TheTransport>(loop, std::move(find));
}

}  // namespace krater::cli
