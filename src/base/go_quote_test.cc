#include "base/go_quote.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(GoQuoted, EscapesAsGoDoesAndLeavesTheShellItsDollar) {
  EXPECT_EQ(go_quoted("a\"b\\c\n\x01$HOME"), R"("a\"b\\c\n\x01$HOME")");
  EXPECT_EQ(go_quoted("\a\b\f\r\t\v\x7f"), R"("\a\b\f\r\t\v\x7f")");
  EXPECT_EQ(go_quoted("caf\u00e9"), "\"caf\u00e9\"");
}

}  // namespace
}  // namespace krater
