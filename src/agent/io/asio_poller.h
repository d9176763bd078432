// FdPoller over an Asio io_context: that of the agent's loop.
#pragma once

#include <memory>

#include "agent/io/poller.h"

namespace boost::asio {
class io_context;
}

namespace krater::agent {

std::unique_ptr<FdPoller> make_asio_poller(boost::asio::io_context& context);

}  // namespace krater::agent
