#include "cli/node_options.h"

#include <string>

#include "agent/net/cni_config.h"
#include "agent/node/pressure.h"
#include "agent/process/images.h"
#include "agent/simulated/programs.h"
#include "base/quantity.h"
#include "cli/files.h"
#include "cli/machine.h"

namespace krater::cli {

Result<std::int64_t> container_log_bytes(const AgentOptions& options) {
  const Result<Quantity> size = Quantity::parse(options.log_max_size);
  if (!size || size->value() < 4096) {
    return make_error(Code::BadRequest,
                      "--container-log-max-size must be a quantity of 4Ki or more, not \"" +
                          options.log_max_size + "\"");
  }
  return size->value();
}

Result<void> check_node_options(const AgentOptions& options) {
  TRY(node_facts(options, options.node_name));
  TRY(agent::parse_thresholds(options.eviction_hard));
  TRY(container_log_bytes(options));
  if (!agent::Subnet::parse(options.pod_cidr)) {
    return make_error(Code::BadRequest,
                      "--pod-cidr must be an IPv4 network such as 10.88.0.0/16, not \"" +
                          options.pod_cidr + "\"");
  }
  if (!options.programs.empty()) {
    TRY_ASSIGN(const std::string text, read_file(options.programs));
    TRY(agent::Programs::parse_yaml(text));
  }
  if (!options.images.empty()) {
    TRY_ASSIGN(const std::string text, read_file(options.images));
    TRY(agent::ImageMap::parse_yaml(text));
  }
  return {};
}

}  // namespace krater::cli
