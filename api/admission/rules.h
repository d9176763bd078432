// What each kind's file offers to the table in admission.cc. Each function sees only its own kind.
#pragma once

#include <set>
#include <string>

#include "api/admission/admission.h"

namespace krater::api {

// What everything that is refused for its content looks like.
using Mutation = Result<void> (*)(Admission&);
using Validation = void (*)(const Admission&, Causes&);
using Verdict = Result<void> (*)(const Admission&);
using Claims = std::set<std::string> (*)(const Json& object);

Result<void> mutate_definition(Admission& admission);
void validate_definition(const Admission& admission, Causes& causes);

Result<void> mutate_namespace(Admission& admission);
Result<void> admit_namespace(const Admission& admission);

Result<void> mutate_pod(Admission& admission);
void validate_pod(const Admission& admission, Causes& causes);

Result<void> mutate_service(Admission& admission);
void validate_service(const Admission& admission, Causes& causes);
std::set<std::string> claims_of_service(const Json& service);

Result<void> mutate_secret(Admission& admission);

Result<void> mutate_resource_quota(Admission& admission);

Result<void> mutate_persistent_volume(Admission& admission);
Result<void> mutate_persistent_volume_claim(Admission& admission);
Result<void> admit_persistent_volume_claim(const Admission& admission);

Result<void> mutate_ingress(Admission& admission);

Result<void> mutate_certificate_request(Admission& admission);

Result<void> mutate_job(Admission& admission);
void validate_job(const Admission& admission, Causes& causes);

Result<void> admit_mirror(const Admission& admission);

Result<void> admit_priority_class(const Admission& admission);

Result<void> mutate_pod_group(Admission& admission);
Result<void> admit_pod_group(const Admission& admission);

Result<void> mutate_queue(Admission& admission);
Result<void> admit_queue(const Admission& admission);

Result<void> admit_job_flow(const Admission& admission);
void validate_job_flow(const Admission& admission, Causes& causes);
void validate_job_template(const Admission& admission, Causes& causes);

void validate_volcano_cron_job(const Admission& admission, Causes& causes);
Result<void> admit_volcano_cron_job(const Admission& admission);

Result<void> mutate_volcano_job(Admission& admission);
void validate_volcano_job(const Admission& admission, Causes& causes);
Result<void> admit_volcano_job(const Admission& admission);

}  // namespace krater::api
