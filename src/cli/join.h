// How a node gets its certificate. It presents a bootstrap token, trusts the server by the
// authority's hash in that token (or by a file), and has a key of its own certified by a
// CertificateSigningRequest, as kubelets do. Afterwards only the files in the node's directory are
// used.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/node_credentials.h"
#include "cli/options.h"

namespace krater::cli {

// SHA-256 over the authority's certificate, hexadecimal, of its DER form.
std::string authority_hash(const std::string& ca_pem);

// From the node's directory when it has joined before, else by joining. Blocks (start of the
// process), for as long as somebody has to approve. Code::Unauthorized for a bad token,
// Code::Forbidden when the server's authority is not the one of the token or the request is denied.
Result<NodeCredentials> join_cluster(const AgentOptions& options, WallTime now);

}  // namespace krater::cli
