// URLs as Go's net/url parses a request URI: absolute, or a path that starts with a slash.
#include <algorithm>
#include <map>

#include "api/cel/functions.h"
#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

class Url final : public Opaque {
 public:
  std::string_view type_name() const override { return "kubernetes.URL"; }
  bool equals(const Opaque& other) const override {
    return text == static_cast<const Url&>(other).text;
  }
  std::string text, scheme, host, path, query;
};

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

int hex_value(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

// The first broken %-escape; "" when there is none.
std::string_view broken_escape(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
      return text.substr(i, 3);
    }
  }
  return {};
}

std::string unescaped(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

bool may_stand_in_path(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.~$&+,/:;=@!'()*[]").find(c) != std::string_view::npos;
}

// The path with everything escaped that has to be.
std::string escaped_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (may_stand_in_path(c) || c == '%') {
      out += c;
    } else {
      out += '%';
      std::string hex = hex_encode(std::string_view(&c, 1));
      std::transform(hex.begin(), hex.end(), hex.begin(), [](char digit) {
        return digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit;
      });
      out += hex;
    }
  }
  return out;
}

// Length of "https" in "https:…"; npos: a colon without a name before it; 0: none.
std::size_t scheme_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.') {
      if (i == 0) return 0;
      continue;
    }
    if (c == ':') return i == 0 ? std::string_view::npos : i;
    return 0;
  }
  return 0;
}

Result<std::string> parse_host(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  std::string_view host = at == std::string_view::npos ? authority : authority.substr(at + 1);
  const auto fail = [](std::string message) {
    return make_error(Code::BadRequest, std::move(message));
  };
  std::size_t port = host.rfind(':');
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos) return fail("missing ']' in host");
    port = end + 1 < host.size() ? end + 1 : std::string_view::npos;
  }
  if (port != std::string_view::npos) {
    const std::string_view text = host.substr(port);
    if (text[0] != ':' || text.find_first_not_of("0123456789", 1) != std::string_view::npos) {
      return fail("invalid port " + go_quoted(text) + " after host");
    }
  }
  if (const std::string_view broken = broken_escape(host); !broken.empty()) {
    return fail("invalid URL escape " + go_quoted(broken));
  }
  for (const char c : host) {
    if (c == ' ' || c == '^' || c == '`' || c == '{' || c == '}' || c == '|' || c == '\\') {
      return fail("invalid character " + go_quoted(std::string(1, c)) + " in host name");
    }
  }
  return unescaped(host, false);
}

Result<std::shared_ptr<Url>> parse_url(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    return make_error(Code::BadRequest, "parse " + go_quoted(text) + ": " + why);
  };
  if (text.empty()) return fail("empty url");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return fail("net/url: invalid control character in URL");
    }
  }
  auto out = std::make_shared<Url>();
  out->text = text;
  std::string_view rest = text;
  if (rest == "*") {
    out->path = "*";
    return out;
  }
  const std::size_t scheme = scheme_length(rest);
  if (scheme == std::string_view::npos) return fail("missing protocol scheme");
  if (scheme > 0) {
    out->scheme = to_lower(rest.substr(0, scheme));
    rest.remove_prefix(scheme + 1);
  }
  const std::size_t fragment = rest.find('#');
  rest = rest.substr(0, fragment);
  const std::size_t query = rest.find('?');
  if (query != std::string_view::npos) {
    out->query = rest.substr(query + 1);
    rest = rest.substr(0, query);
  }
  if (!rest.starts_with('/')) {
    if (out->scheme.empty()) return fail("invalid URI for request");
    return out;  // opaque: "mailto:a@b"
  }
  if ((!out->scheme.empty() || !rest.starts_with("///")) && rest.starts_with("//") &&
      !out->scheme.empty()) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    Result<std::string> host = parse_host(authority);
    if (!host) return fail(host.error().message);
    out->host = std::move(*host);
  }
  if (const std::string_view broken = broken_escape(rest); !broken.empty()) {
    return fail("invalid URL escape " + go_quoted(broken));
  }
  out->path = escaped_path(rest);
  return out;
}

const Url* url_of(Args args) {
  if (args[0].kind() != Kind::Opaque || args[0].type_name() != "kubernetes.URL") return nullptr;
  return &args[0].opaque_as<Url>();
}

Value text(std::string value) {
  return Value::string(std::move(value));
}

// "[::1]:80" -> "::1" and "80"
std::pair<std::string, std::string> host_and_port(const std::string& host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  std::string name = has_port ? host.substr(0, colon) : host;
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  return {name, has_port ? host.substr(colon + 1) : std::string()};
}

}  // namespace

Value call_url(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  Result<std::shared_ptr<Url>> url = parse_url(args[0].text());
  if (!url) {
    return Value::error("URL parse error during conversion from string: " + url.error().message);
  }
  return Value::opaque(std::move(*url));
}

Value call_is_url(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  return Value::of(parse_url(args[0].text()).has_value());
}

Value call_get_scheme(Args args) {
  const Url* url = url_of(args);
  return url == nullptr ? no_such_overload() : text(url->scheme);
}
Value call_get_host(Args args) {
  const Url* url = url_of(args);
  return url == nullptr ? no_such_overload() : text(url->host);
}
Value call_get_hostname(Args args) {
  const Url* url = url_of(args);
  return url == nullptr ? no_such_overload() : text(host_and_port(url->host).first);
}
Value call_get_port(Args args) {
  const Url* url = url_of(args);
  return url == nullptr ? no_such_overload() : text(host_and_port(url->host).second);
}
Value call_get_escaped_path(Args args) {
  const Url* url = url_of(args);
  return url == nullptr ? no_such_overload() : text(url->path);
}

Value call_get_query(Args args) {
  const Url* url = url_of(args);
  if (url == nullptr) return no_such_overload();
  std::map<std::string, std::vector<Value>> values;
  for (const std::string_view part : split(url->query, '&')) {
    if (part.empty() || part.find(';') != std::string_view::npos || !broken_escape(part).empty()) {
      continue;
    }
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view value = equals < part.size() ? part.substr(equals + 1) : "";
    values[unescaped(part.substr(0, equals), true)].push_back(text(unescaped(value, true)));
  }
  std::vector<std::pair<Value, Value>> entries;
  for (auto& [key, list] : values) entries.emplace_back(text(key), Value::list(std::move(list)));
  return Value::map(std::move(entries));
}

}  // namespace krater::cel
