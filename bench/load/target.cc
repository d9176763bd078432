#include "bench/load/target.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::bench {

Target target_of(const std::string& kubeconfig_path, std::string name) {
  std::ifstream file(kubeconfig_path);
  CHECK_MSG(file.good(), kubeconfig_path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<Json> parsed = parse_yaml(text);
  CHECK_MSG(parsed.has_value(), kubeconfig_path);
  const JsonArray* const clusters = array_at(*parsed, {"clusters"});
  const JsonArray* const users = array_at(*parsed, {"users"});
  CHECK_MSG(clusters && users && !clusters->empty() && !users->empty(), kubeconfig_path);
  const auto pem = [](const Json& from, JsonPath path) {
    return base64_decode(text_at(from, path)).value();
  };
  const Json& cluster = clusters->front();
  const Json& user = users->front();
  return {std::move(name),
          text_at(cluster, {"cluster", "server"}),
          {pem(cluster, {"cluster", "certificate-authority-data"}),
           pem(user, {"user", "client-certificate-data"}), pem(user, {"user", "client-key-data"})}};
}

}  // namespace krater::bench
