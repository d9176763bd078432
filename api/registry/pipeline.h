// The steps every created or changed object goes through, in Kubernetes' order: decode, defaults,
// admission, validation. Pure but for the generator and what the view reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"
#include "api/machinery/schema.h"
#include "api/policy/policies.h"
#include "api/registry/request.h"
#include "base/env.h"
#include "base/result.h"

namespace krater::api {

// What does not change between writes.
struct PipelineEnv {
  const SchemaSet& schemas;
  Rng& rng;
  AdmissionSettings settings;
  PolicyJudge* judge = nullptr;  // null: nobody's policies are asked
};

// Body against URL and schema: types, unknown and duplicate fields per fieldValidation. After it
// the object holds only what the schema knows.
Result<void> decode_body(const KindSchema& schema, std::string_view name_space,
                         const RequestInfo& info, Json& object, std::vector<std::string>& warnings);

// Only the types of a body, which stays as it is.
Result<void> check_body_types(const KindSchema& schema, Json object);

// Defaults and canonical forms. `old`: what is there now; equal amounts keep its words.
void settle(const KindSchema& schema, Json& object, const Json* old = nullptr);
// Of an update at the endpoint of the status: all else is as it was stored.
void settle_status(const KindSchema& schema, Json& object, const Json& old);
// Whether the rest of an update need not be looked at again.
bool changes_status_alone(const KindSchema& schema, std::string_view subresource);

// Validation, validating admission, and what the writer himself may do. Code::Invalid with all
// causes, or a refusal.
Result<void> approve(const KindSchema& schema, const Admission& admission, const RequestInfo& info);

// Turns a bare refusal of admission into `pods "p" is forbidden: …`.
Error explained(Error error, const Kind& kind, std::string_view name);

// Code::TooLarge above 1.5 MiB.
Result<void> check_size(std::size_t bytes);

}  // namespace krater::api
