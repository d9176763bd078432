// What verbs need that act on a server's data directory as its administrator.
#pragma once

#include <string>

#include "api/auth/pki.h"
#include "base/result.h"
#include "base/time.h"

namespace krater::cli {

struct Admin {
  std::string server_url;
  std::string ca_pem;
  api::CertifiedKey client;  // CN=kubernetes-admin, O=system:masters, fresh
};

// Code::NotFound when no server ever ran in `data_dir`.
Result<Admin> load_admin(const std::string& data_dir, WallTime now);
// The Pki of a directory in which a server has run; never makes one.
Result<api::Pki> load_pki(const std::string& data_dir, WallTime now);
std::string server_url_file(const std::string& data_dir);

}  // namespace krater::cli
