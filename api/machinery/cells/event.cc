#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

std::string first_set(const Json& event, std::initializer_list<std::string_view> fields) {
  for (std::string_view field : fields) {
    std::string text = text_at(event, {field});
    if (!text.empty()) return text;
  }
  return {};
}

std::string source(const Json& event) {
  std::string component = text_at(event, {"source", "component"}),
              host = text_at(event, {"source", "host"});
  if (component.empty()) {
    component = text_at(event, {"reportingComponent"});
    host = text_at(event, {"reportingInstance"});
  }
  return host.empty() ? component : component + ", " + host;
}

}  // namespace

JsonArray event(const Json& object, WallTime now) {
  const std::string first = since(first_set(object, {"firstTimestamp", "eventTime"}), now);
  std::string last = first;
  if (const std::string time = text_at(object, {"series", "lastObservedTime"}); !time.empty()) {
    last = since(time, now);
  } else if (const std::string stamp = text_at(object, {"lastTimestamp"}); !stamp.empty()) {
    last = since(stamp, now);
  }
  const auto series = int_at(object, {"series", "count"});
  const auto count = series ? series : int_at(object, {"count"});
  const std::string regarding = to_lower(text_at(object, {"involvedObject", "kind"})) + "/" +
                                text_at(object, {"involvedObject", "name"});
  return {Json(last),
          Json(text_at(object, {"type"})),
          Json(text_at(object, {"reason"})),
          Json(regarding),
          Json(text_at(object, {"involvedObject", "fieldPath"})),
          Json(source(object)),
          Json(std::string(trim(text_at(object, {"message"})))),
          Json(first),
          Json(count && *count > 0 ? *count : 1),
          Json(name(object))};
}

}  // namespace krater::api::cells
