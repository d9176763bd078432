#include "api/server/media.h"

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kAccepted = "application/json, application/yaml";

std::string unquote(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::string essence(std::string_view content_type) {
  return to_lower(trim(content_type.substr(0, content_type.find(';'))));
}

bool is_yaml(std::string_view type) {
  return type == "application/yaml" || type == "application/x-yaml" || type == "text/yaml";
}

std::optional<Format> format_of(std::string_view type, const Offer& offer) {
  if (type == "application/json" || type == "application/*" || type == "*/*") return Format::Json;
  if (is_yaml(type) && offer.yaml) return Format::Yaml;
  return std::nullopt;
}

// Whether the clause's `as` names something we can make; nothing when it does not (the clause is
// skipped).
std::optional<Shape> shape_of(const MediaRange& range, const Offer& offer) {
  const std::string_view as = range.parameter("as");
  if (as.empty()) return Shape::Full;
  const std::string_view version = range.parameter("v");
  if (range.parameter("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1"))
    return std::nullopt;
  if (as == "Table" && offer.table) return Shape::Table;
  if (as == "PartialObjectMetadata" && offer.partial && !offer.list) return Shape::PartialMetadata;
  if (as == "PartialObjectMetadataList" && offer.partial && offer.list)
    return Shape::PartialMetadata;
  return std::nullopt;
}

}  // namespace

std::string_view MediaRange::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<MediaRange> parse_accept(std::string_view header) {
  std::vector<MediaRange> out;
  for (const std::string_view clause : split(header, ',')) {
    MediaRange range;
    bool first = true;
    for (const std::string_view piece : split(clause, ';')) {
      const std::string_view text = trim(piece);
      if (std::exchange(first, false)) {
        range.type = to_lower(text);
        continue;
      }
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string name = to_lower(trim(text.substr(0, equals)));
      const std::string value = unquote(trim(text.substr(equals + 1)));
      if (name == "q") {
        range.quality = std::clamp(std::strtod(value.c_str(), nullptr), 0.0, 1.0);
      } else {
        range.parameters.emplace_back(name, value);
      }
    }
    if (range.type.find('/') != std::string::npos && range.quality > 0)
      out.push_back(std::move(range));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const MediaRange& a, const MediaRange& b) { return a.quality > b.quality; });
  return out;
}

std::string Media::content_type() const {
  switch (format) {
    case Format::Json:
      break;
    case Format::Yaml:
      return "application/yaml";
    case Format::Protobuf:
      return std::string(kProtobufType);
  }
  return "application/json";
}

Result<Media> negotiate(std::string_view accept, const Offer& offer) {
  if (trim(accept).empty()) return Media{};
  for (const MediaRange& range : parse_accept(accept)) {
    const std::optional<Format> format = format_of(range.type, offer);
    const std::optional<Shape> shape = shape_of(range, offer);
    if (format && shape) return Media{*format, *shape};
  }
  if (offer.protobuf && reads_only_protobuf(accept)) {
    Offer without_tables = offer;  // a Table has no protobuf form
    without_tables.table = false;
    for (const MediaRange& range : parse_accept(accept)) {
      const std::optional<Shape> shape = shape_of(range, without_tables);
      if (range.type == kProtobufType && shape) return Media{Format::Protobuf, *shape};
    }
  }
  return make_error(Code::NotAcceptable,
                    "only the following media types are accepted: " + std::string(kAccepted) +
                        (offer.protobuf ? ", " + std::string(kProtobufType) : ""));
}

bool reads_only_protobuf(std::string_view accept) {
  bool protobuf = false;
  for (const MediaRange& range : parse_accept(accept)) {
    if (format_of(range.type, {})) return false;
    protobuf = protobuf || range.type == kProtobufType;
  }
  return protobuf;
}

Result<BodyFormat> body_format(std::string_view content_type) {
  const std::string type = essence(content_type);
  if (type.empty() || type == "application/json") return BodyFormat::Json;
  if (is_yaml(type)) return BodyFormat::Yaml;
  if (type == kProtobufType) return BodyFormat::Protobuf;
  return make_error(Code::UnsupportedMedia,
                    "the body of the request was in an unknown format - accepted media types "
                    "include: application/json, "
                    "application/yaml, application/vnd.kubernetes.protobuf");
}

Result<client::PatchType> patch_type(std::string_view content_type) {
  const std::string type = essence(content_type);
  if (type == "application/json-patch+json") return client::PatchType::Json;
  if (type == "application/merge-patch+json") return client::PatchType::Merge;
  if (type == "application/strategic-merge-patch+json") return client::PatchType::StrategicMerge;
  if (type == "application/apply-patch+yaml") return client::PatchType::Apply;
  return make_error(
      Code::UnsupportedMedia,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, "
      "application/strategic-merge-patch+json, application/apply-patch+yaml");
}

}  // namespace krater::api
