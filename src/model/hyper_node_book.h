// Which nodes HyperNodes hold, themselves and through each other, kept up while nodes and
// HyperNodes come, change and go. Each pattern is compiled once; a node is held against the members
// that look for nodes, a HyperNode against the nodes, and nobody else is looked at. Pure.
//
// Always holds: a member that does not exist, and a circle of members, adds no nodes.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/object.h"

namespace krater {

class HyperNodeBook {
 public:
  using Names = std::set<std::string>;
  // By number of the node.
  using Nodes = boost::dynamic_bitset<std::uint64_t>;

  HyperNodeBook();
  ~HyperNodeBook();
  HyperNodeBook(HyperNodeBook&&) noexcept;
  HyperNodeBook& operator=(HyperNodeBook&&) noexcept;

  // A HyperNode is there, as it is now (the whole object), or gone. The names of those that may
  // hold other nodes than before, itself among them.
  Names put(const std::string& hyper_node, const Json& object);
  Names remove(const std::string& hyper_node);
  // The same for a node.
  Names put_node(const std::string& node, const Labels& labels);
  Names remove_node(const std::string& node);

  // Empty of one that is not there.
  Nodes nodes_within(const std::string& hyper_node) const;
  std::int64_t count(const std::string& hyper_node) const;
  std::set<std::string> names_within(const std::string& hyper_node) const;
  const std::string& node_name(std::size_t number) const { return node_names_[number]; }

  // How often a name or labels were held against a member, for measuring.
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  class Member;
  struct HyperNode;
  using HyperNodePtr = std::unique_ptr<HyperNode>;
  struct Node {
    std::size_t number = 0;
    Labels labels;
  };

  std::size_t number_of_new(const std::string& node);
  bool holds(const HyperNode& one, const std::string& node, const Labels& labels);
  bool holds_group(const HyperNode& one, const std::string& group);
  void link(const std::string& name, const std::string& child);
  void forget(const std::string& name);
  void fill(const std::string& name, HyperNode& one);
  // Those in which one of these is, at any depth, and these.
  Names around(const Names& names) const;

  std::map<std::string, HyperNodePtr> hyper_nodes_;
  std::map<std::string, Node> nodes_;
  std::vector<std::string> node_names_;  // by number
  std::vector<std::size_t> free_;        // numbers
  std::size_t room_ = 0;                 // size of all sets of nodes
  // Who names whom; of HyperNodes also what is not there.
  std::map<std::string, Names> namers_of_node_, namers_of_group_;
  // Who has members that have to be looked for.
  Names look_for_nodes_, look_for_groups_;
  std::uint64_t evaluations_ = 0;
};

}  // namespace krater
