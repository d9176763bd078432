#include "model/hyper_node_book.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

using Names = HyperNodeBook::Names;

Json hyper_node(const std::string& members) {
  const Result<Json> out = parse_json(R"({"spec":{"members":[)" + members + "]}}");
  EXPECT_TRUE(out.has_value()) << members;
  return *out;
}
std::string exact(const std::string& name, const std::string& type = "Node") {
  return R"({"type":")" + type + R"(","selector":{"exactMatch":{"name":")" + name + R"("}}})";
}
std::string pattern(const std::string& text, const std::string& type = "Node") {
  return R"({"type":")" + type + R"(","selector":{"regexMatch":{"pattern":")" + text + R"("}}})";
}
std::string labelled(const std::string& key, const std::string& value) {
  return R"({"type":"Node","selector":{"labelMatch":{"matchLabels":{")" + key + R"(":")" + value +
         R"("}}}})";
}

TEST(HyperNodeBook, SaysWhoMayHoldOtherNodesThanBefore) {
  HyperNodeBook book;
  EXPECT_EQ(book.put("a", hyper_node(exact("n0") + "," + pattern("^x-"))), Names{"a"});
  EXPECT_EQ(book.put("top", hyper_node(exact("a", "HyperNode"))), Names{"top"});
  EXPECT_EQ(book.put("b", hyper_node(labelled("rack", "b"))), Names{"b"});
  EXPECT_EQ(book.put_node("n0", {}), (Names{"a", "top"}));
  EXPECT_EQ(book.put_node("x-1", {}), (Names{"a", "top"}));
  EXPECT_EQ(book.put_node("n9", {}), Names{});
  EXPECT_EQ(book.put_node("n9", {{"rack", "b"}}), Names{"b"});
  EXPECT_EQ(book.put_node("n9", {{"rack", "b"}, {"else", "1"}}), Names{});
  EXPECT_EQ(book.names_within("top"), (std::set<std::string>{"n0", "x-1"}));
  EXPECT_EQ(book.put("top", hyper_node(exact("b", "HyperNode"))), Names{"top"});
  EXPECT_EQ(book.names_within("top"), std::set<std::string>{"n9"});
  EXPECT_EQ(book.remove_node("n9"), (Names{"b", "top"}));
  EXPECT_EQ(book.count("top"), 0);
  EXPECT_EQ(book.remove("b"), (Names{"b", "top"}));
  EXPECT_EQ(book.remove("b"), (Names{"b", "top"})) << "still named";
}

TEST(HyperNodeBook, MembersMayComeLaterAndStandInACircle) {
  HyperNodeBook book;
  book.put("one", hyper_node(exact("two", "HyperNode") + "," + exact("n0")));
  EXPECT_EQ(book.put("two", hyper_node(exact("one", "HyperNode") + "," + exact("n1"))),
            (Names{"one", "two"}));
  book.put_node("n0", {});
  EXPECT_EQ(book.put_node("n1", {}), (Names{"one", "two"}));
  EXPECT_EQ(book.count("one"), 2);
  EXPECT_EQ(book.count("two"), 2);
  book.put("all", hyper_node(pattern("^o", "HyperNode")));
  EXPECT_EQ(book.count("all"), 2);
  EXPECT_EQ(book.put("other", hyper_node(exact("n2"))), (Names{"all", "other"}));
  book.put_node("n2", {});
  EXPECT_EQ(book.count("all"), 3);
}

TEST(HyperNodeBook, APatternThatCannotBeReadMeansNobody) {
  HyperNodeBook book;
  book.put_node("n0", {});
  book.put("bad", hyper_node(pattern("(") + R"(,{"type":"Node"})"));
  EXPECT_EQ(book.count("bad"), 0);
  EXPECT_EQ(book.count("nosuch"), 0);
}

TEST(HyperNodeBook, NumbersOfNodesThatAreGoneAreUsedAgain) {
  HyperNodeBook book;
  book.put("all", hyper_node(pattern(".")));
  for (int i = 0; i < 1000; ++i) {
    book.put_node("n" + std::to_string(i), {});
    if (i >= 10) book.remove_node("n" + std::to_string(i - 10));
  }
  EXPECT_EQ(book.count("all"), 10);
  EXPECT_TRUE(book.names_within("all").contains("n999"));
  EXPECT_LE(book.nodes_within("all").size(), 64U);
}

// Two thousand HyperNodes in three tiers around five thousand nodes, one in ten of them told by a
// pattern.
TEST(HyperNodeBook, AChangeCostsWhatItConcerns) {
  constexpr int kRacks = 1900, kPatterns = 190, kRows = 99, kNodes = 5000;
  HyperNodeBook book;
  const auto rack_of = [](int node) { return node % kRacks; };
  const auto node_name = [&](int node) {
    return "rack" + std::to_string(rack_of(node)) + "-" + std::to_string(node);
  };
  for (int node = 0; node < kNodes; ++node) book.put_node(node_name(node), {});
  std::vector<std::string> rows(kRows);
  for (int rack = 0; rack < kRacks; ++rack) {
    std::string members;
    for (int node = rack; node < kNodes; node += kRacks)
      members += (members.empty() ? "" : ",") + exact(node_name(node));
    if (rack < kPatterns) members = pattern("^rack" + std::to_string(rack) + "-");
    book.put("rack" + std::to_string(rack), hyper_node(members));
    std::string& row = rows[static_cast<std::size_t>(rack % kRows)];
    row += (row.empty() ? "" : ",") + exact("rack" + std::to_string(rack), "HyperNode");
  }
  std::string all;
  for (int row = 0; row < kRows; ++row) {
    book.put("row" + std::to_string(row), hyper_node(rows[static_cast<std::size_t>(row)]));
    all += (all.empty() ? "" : ",") + exact("row" + std::to_string(row), "HyperNode");
  }
  book.put("top", hyper_node(all));
  EXPECT_EQ(book.count("top"), kNodes);
  // Each node once against each pattern.
  std::uint64_t before = book.evaluations();
  EXPECT_EQ(before, std::uint64_t{kPatterns} * kNodes);
  // A node: against each pattern, and three HyperNodes count anew.
  EXPECT_EQ(book.put_node("rack7-new", {}), (Names{"rack7", "row7", "top"}));
  EXPECT_LE(book.evaluations() - before, std::uint64_t{kPatterns});
  EXPECT_EQ(book.count("top"), kNodes + 1);
  before = book.evaluations();
  // A HyperNode that names its nodes: none at all.
  EXPECT_EQ(book.put("rack1000", hyper_node(exact(node_name(1000)))),
            (Names{"rack1000", "row10", "top"}));
  EXPECT_EQ(book.evaluations(), before);
  EXPECT_EQ(book.remove_node(node_name(1001)), (Names{"rack1001", "row11", "top"}));
  EXPECT_EQ(book.evaluations(), before);
}

}  // namespace
}  // namespace krater
