// `krater token create`: makes a join token in the running cluster and prints it, with the hash of
// the authority that the agent is to trust: `<id>.<secret>.<hash>`.
#include <cstdio>

#include "api/auth/bootstrap_token.h"
#include "cli/admin.h"
#include "cli/join.h"
#include "cli/options.h"
#include "client/http_object_client.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"
#include "runtime/system.h"

namespace krater::cli {

int run_token_create(const TokenOptions& options) {
  const runtime::SystemClock clock;
  const Result<Admin> admin = load_admin(options.data_dir, clock.now());
  if (!admin) {
    std::fprintf(stderr, "krater: %s\n", admin.error().message.c_str());
    return 1;
  }
  runtime::AsioLoop loop;
  runtime::SystemRng rng;
  const auto http = runtime::make_http_client(
      loop, {admin->ca_pem, admin->client.certificate_pem, admin->client.key_pem});
  const auto client = client::make_http_object_client(*http, loop, rng, {admin->server_url});
  const api::NewBootstrapToken made = api::new_bootstrap_token(
      clock.now() + std::chrono::hours(options.hours), "krater token create");
  int exit_code = 1;
  loop.post([&] {
    client->write(client::CreateWrite{kinds::kSecret, std::string(api::kBootstrapTokenNamespace),
                                      made.secret},
                  [&](Result<ObjectPtr> stored) {
                    if (stored) {
                      std::printf("%s.%s\n", made.token.c_str(),
                                  authority_hash(admin->ca_pem).c_str());
                      exit_code = 0;
                    } else {
                      std::fprintf(stderr, "krater: %s\n", stored.error().message.c_str());
                    }
                    loop.stop();
                  });
  });
  loop.run();
  return exit_code;
}

}  // namespace krater::cli
