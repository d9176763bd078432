// Key pairs for ssh. Any thread; making one takes a while.
#pragma once

#include <string>

#include "base/result.h"

namespace krater::runtime {

struct SshKeyPair {
  std::string private_pem;  // PKCS #1
  std::string public_line;  // "ssh-rsa AAAA…\n", as authorized_keys lists it
};
// RSA of 2048 bits.
Result<SshKeyPair> make_ssh_key();

}  // namespace krater::runtime
