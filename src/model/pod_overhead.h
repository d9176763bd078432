// What a runtime class adds to each of its pods when they are made. Pure.
#pragma once

#include <functional>
#include <string>

#include "model/object.h"

namespace krater {

inline const Kind kRuntimeClassKind{"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false};

// By name; null: there is none.
using RuntimeClasses = std::function<ObjectPtr(const std::string& name)>;

// A template's PodSpec as its pods will have it. One that gives its overhead itself keeps it.
Json with_overhead(const Json& pod_spec, const RuntimeClasses& classes);

}  // namespace krater
