#include "api/cel/syntax.h"

#include <algorithm>

namespace krater::cel {
namespace {

constexpr std::size_t kLongestSnippet = 16384;
constexpr std::size_t kMostIssues = 100;

std::size_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::string render_one(const Issue& issue, std::string_view source) {
  const std::size_t at = std::min<std::size_t>(issue.at, source.size());
  const std::size_t before = at == 0 ? std::string_view::npos : source.rfind('\n', at - 1);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  const auto line =
      std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::uint64_t column = code_points(source.substr(start, at - start));
  std::string out = "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) +
                    ": " + issue.message;
  std::string snippet(source.substr(start, source.find('\n', start) - start));
  if (snippet.size() > kLongestSnippet) return out;
  std::replace(snippet.begin(), snippet.end(), '\t', ' ');
  out += "\n | " + snippet + "\n | ";
  // A wide dot under every letter of more than one byte.
  std::size_t place = 0;
  for (std::uint64_t i = 0; i < column && place < snippet.size(); ++i) {
    const std::size_t length = sequence_length(snippet[place]);
    out += length > 1 ? "\uff0e" : ".";
    place += length;
  }
  out += place < snippet.size() && sequence_length(snippet[place]) > 1 ? "\uff3e" : "^";
  return out;
}

}  // namespace

std::string render(const std::vector<Issue>& issues, std::string_view source) {
  std::vector<Issue> sorted = issues;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Issue& a, const Issue& b) { return a.at < b.at; });
  std::string out;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) out += '\n';
    if (i == kMostIssues) {
      return out + std::to_string(sorted.size() - kMostIssues) + " more errors were truncated";
    }
    out += render_one(sorted[i], source);
  }
  return out;
}

}  // namespace krater::cel
