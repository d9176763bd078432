#include "cli/metric_labels.h"

#include <fmt/format.h>

namespace krater::cli {

std::string label_text(
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out.append(name).append("=\"");
    for (const char c : value) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

void add_histogram(std::vector<api::Metrics::Sample>& to, const std::string& labels,
                   const Histogram& histogram) {
  const std::string before = labels.empty() ? labels : labels + ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i) {
    total += histogram.in_bucket(i);
    const std::string bound =
        i < histogram.bounds().size() ? fmt::format("{}", histogram.bounds()[i]) : "+Inf";
    to.push_back({before + "le=\"" + bound + "\"", static_cast<double>(total), "_bucket"});
  }
  to.push_back({labels, histogram.sum(), "_sum"});
  to.push_back({labels, static_cast<double>(total), "_count"});
}

}  // namespace krater::cli
