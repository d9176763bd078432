#include "api/server/resource_path.h"

#include <vector>

#include "base/strings.h"

namespace krater::api {
namespace {

// Decoded segments without the leading empty one. nullopt inside: an empty segment.
Result<std::optional<std::vector<std::string>>> segments_of(std::string_view path) {
  using Segments = std::optional<std::vector<std::string>>;
  if (path.empty() || path[0] != '/')
    return make_error(Code::BadRequest, "the path must begin with a slash");
  std::string_view rest = path.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);  // a slash at the end says nothing
  std::vector<std::string> out;
  for (const std::string_view piece : split(rest, '/')) {
    if (piece.empty()) return Segments();
    std::optional<std::string> decoded = percent_decode(piece, false);
    if (!decoded) return make_error(Code::BadRequest, "invalid URL escape in the path");
    if (decoded->find('/') != std::string::npos || decoded->find('\0') != std::string::npos) {
      return make_error(Code::BadRequest,
                        "invalid path segment: it may not contain an encoded slash");
    }
    out.push_back(*std::move(decoded));
  }
  return Segments(std::move(out));
}

}  // namespace

std::string_view verb_name(Verb verb) {
  switch (verb) {
    case Verb::Get:
      return "get";
    case Verb::List:
      return "list";
    case Verb::Watch:
      return "watch";
    case Verb::Create:
      return "create";
    case Verb::Update:
      return "update";
    case Verb::Patch:
      return "patch";
    case Verb::Delete:
      return "delete";
    case Verb::DeleteCollection:
      return "deletecollection";
  }
  return "";
}

Result<std::optional<ResourcePath>> parse_resource_path(std::string_view path) {
  using Found = std::optional<ResourcePath>;
  TRY_ASSIGN(auto segments, segments_of(path));
  if (!segments) return Found();
  ResourcePath out;
  std::size_t at = 0;
  const auto next = [&] { return at < segments->size() ? (*segments)[at++] : std::string(); };
  const std::string root = next();
  if (root == "apis") {
    out.group = next();
  } else if (root != "api") {
    return Found();
  }
  out.version = next();
  out.resource = next();
  if (out.resource.empty()) return Found();
  if (out.resource == "namespaces" && at < segments->size()) {
    // namespaces/<ns>, namespaces/<ns>/status and …/finalize mean the Namespace itself.
    const std::string name_space = next();
    const std::string following = at < segments->size() ? (*segments)[at] : std::string();
    if (following.empty() || following == "status" || following == "finalize") {
      out.name = name_space;
      out.name_space = name_space;
      out.subresource = next();
      return at == segments->size() ? Found(std::move(out)) : Found();
    }
    out.name_space = name_space;
    out.resource = next();
  }
  out.name = next();
  out.subresource = next();
  while (at < segments->size()) out.rest += "/" + next();
  return Found(std::move(out));
}

std::optional<Verb> verb_of(std::string_view method, const ResourcePath& path, const Query& query) {
  const bool named = !path.name.empty();
  if (method == "GET" || method == "HEAD") {
    // `watch` on a named object is an old form that kubectl never sends; it stays a get.
    if (named) return Verb::Get;
    return query.flag("watch") ? Verb::Watch : Verb::List;
  }
  if (method == "POST") return Verb::Create;
  if (method == "PUT") return Verb::Update;
  if (method == "PATCH") return Verb::Patch;
  if (method == "DELETE") return named ? Verb::Delete : Verb::DeleteCollection;
  return std::nullopt;
}

std::string pinned_field(std::string_view field_selector, std::string_view label) {
  for (std::string_view term : split(field_selector, ',')) {
    if (!term.starts_with(label)) continue;
    term.remove_prefix(label.size());
    if (!term.starts_with('=')) continue;
    term.remove_prefix(term.starts_with("==") ? 2 : 1);
    // An escaped value is none that a name could have.
    if (term.find('\\') == std::string_view::npos) return std::string(term);
  }
  return {};
}

}  // namespace krater::api
