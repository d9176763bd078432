// TcpDialer over Asio: numeric addresses, and "localhost".
#pragma once

#include <memory>

#include "agent/net/tcp_dialer.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent {

std::unique_ptr<TcpDialer> make_asio_tcp_dialer(boost::asio::io_context& context);

}  // namespace krater::agent
