// Every handler of the route table, one file a theme. They answer one request; exceptions do not
// leave them but by accident (the connection stops those).
#pragma once

#include "api/server/routes.h"

namespace krater::api::handlers {

// read.cc
Answering get(Deps& deps, Exchange& x);
Answering list(Deps& deps, Exchange& x);
// watch.cc
Answering watch(Deps& deps, Exchange& x);
// write.cc
Answering create(Deps& deps, Exchange& x);
Answering update(Deps& deps, Exchange& x);
Answering patch(Deps& deps, Exchange& x);
Answering remove(Deps& deps, Exchange& x);
Answering remove_collection(Deps& deps, Exchange& x);
// scale.cc
Answering get_scale(Deps& deps, Exchange& x);
Answering update_scale(Deps& deps, Exchange& x);
Answering patch_scale(Deps& deps, Exchange& x);
// pods.cc
Answering bind_pod(Deps& deps, Exchange& x);  // pods/<p>/binding
Answering bind(Deps& deps, Exchange& x);      // bindings
Answering evict(Deps& deps, Exchange& x);
// pod_log.cc
Answering pod_log(Deps& deps, Exchange& x);
// reviews.cc
Answering create_token(Deps& deps, Exchange& x);
Answering self_subject_review(Deps& deps, Exchange& x);
Answering token_review(Deps& deps, Exchange& x);
Answering self_subject_access_review(Deps& deps, Exchange& x);
Answering self_subject_rules_review(Deps& deps, Exchange& x);
Answering subject_access_review(Deps& deps, Exchange& x);  // and the local one
// paths.cc
Answering index(Deps& deps, Exchange& x);
Answering version(Deps& deps, Exchange& x);
Answering healthz(Deps& deps, Exchange& x);
Answering livez(Deps& deps, Exchange& x);
Answering readyz(Deps& deps, Exchange& x);
Answering metrics(Deps& deps, Exchange& x);
Answering discovery_core(Deps& deps, Exchange& x);
Answering discovery_groups(Deps& deps, Exchange& x);
Answering openapi_v2(Deps& deps, Exchange& x);
Answering openapi_v3(Deps& deps, Exchange& x);
Answering token_keys(Deps& deps, Exchange& x);
Answering token_issuer(Deps& deps, Exchange& x);
// node.cc
Answering authority(Deps& deps, Exchange& x);
Answering join(Deps& deps, Exchange& x);
Answering tunnel(Deps& deps, Exchange& x);

}  // namespace krater::api::handlers
