// GrpcHealth over Asio: numeric addresses, and "localhost"; cleartext, as a kubelet asks.
#pragma once

#include <memory>

#include "agent/net/grpc_health.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent {

std::unique_ptr<GrpcHealth> make_asio_grpc_health(boost::asio::io_context& context);

}  // namespace krater::agent
