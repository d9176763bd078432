// The webhook configurations of admissionregistration.k8s.io/v1, beside the kinds of
// model/policy_kinds.h.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

inline const Kind kMutatingWebhookConfiguration{"admissionregistration.k8s.io", "v1",
                                                "MutatingWebhookConfiguration",
                                                "mutatingwebhookconfigurations", false};
inline const Kind kValidatingWebhookConfiguration{"admissionregistration.k8s.io", "v1",
                                                  "ValidatingWebhookConfiguration",
                                                  "validatingwebhookconfigurations", false};

}  // namespace krater::kinds
