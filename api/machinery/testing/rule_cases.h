// Objects that break one rule, or none, and what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/testing/pipeline.h"
#include "base/strings.h"

namespace krater::api::testing {

struct Case {
  std::string object, error;  // error "": legal
};

inline void check(const std::vector<Case>& cases) {
  for (const Case& item : cases) {
    const Outcome out = run(item.object);
    ASSERT_EQ(out.type_error, "") << item.object;
    EXPECT_EQ(join(out.errors, "\n")
                  .substr(0, item.error.empty() ? std::string::npos : item.error.size()),
              item.error)
        << item.object;
  }
}

inline std::string object(std::string_view api_version, std::string_view kind,
                          std::string_view rest, std::string_view more_meta = "") {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"x")" + std::string(more_meta) + "}" + (rest.empty() ? "" : ",") +
         std::string(rest) + "}";
}

}  // namespace krater::api::testing
