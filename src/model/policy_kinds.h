// The kinds of admissionregistration.k8s.io/v1, beside those of model/kinds.h.
#pragma once

#include "model/kinds.h"

namespace krater::kinds {

inline const Kind kValidatingAdmissionPolicy{"admissionregistration.k8s.io", "v1",
                                             "ValidatingAdmissionPolicy",
                                             "validatingadmissionpolicies", false};
inline const Kind kValidatingAdmissionPolicyBinding{"admissionregistration.k8s.io", "v1",
                                                    "ValidatingAdmissionPolicyBinding",
                                                    "validatingadmissionpolicybindings", false};

}  // namespace krater::kinds
