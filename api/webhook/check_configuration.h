// What is wrong with a webhook configuration itself, in kube-apiserver's words. Pure.
#pragma once

#include <string>

#include "api/admission/causes.h"
#include "base/json.h"

namespace krater::api {

Causes check_webhook_configuration(const Json& configuration);

// webhooks[i].clientConfig, and a definition's conversion has one too.
void check_client_config(const Json& client_config, const std::string& path, Causes& out);

}  // namespace krater::api
