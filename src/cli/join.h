// How a node gets its certificate: it presents a join token, trusts the server by the authority's
// hash in that token, and has a key of its own certified. Afterwards only the files in the node's
// directory are used.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/options.h"
#include "runtime/tls.h"

namespace krater::cli {

// SHA-256 over the authority's certificate, hexadecimal, of its DER form.
std::string authority_hash(const std::string& ca_pem);

// From the node's directory when it has joined before, else by joining. Blocks (start of the
// process). Code::Unauthorized for a bad token, Code::Forbidden when the server's authority is not
// the one of the token.
Result<runtime::TlsIdentity> join_cluster(const AgentOptions& options, const std::string& node_name,
                                          WallTime now);

}  // namespace krater::cli
