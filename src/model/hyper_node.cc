#include "model/hyper_node.h"

#include <re2/re2.h>

#include "model/selector.h"

namespace krater {
namespace {

// What one entry of spec.members names.
class Member {
 public:
  explicit Member(const Json& given) : of_hyper_nodes_(text_at(given, {"type"}) == "HyperNode") {
    if (const auto name = string_at(given, {"selector", "exactMatch", "name"})) {
      exact_ = std::string(*name);
    } else if (const auto text = string_at(given, {"selector", "regexMatch", "pattern"})) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      pattern_ = std::make_unique<re2::RE2>(re2::StringPiece(text->data(), text->size()), options);
    } else if (const Json* match = find(given, {"selector", "labelMatch"});
               match != nullptr && match->is_object()) {
      const Result<LabelSelector> selector = LabelSelector::from_object(*match);
      if (selector && !selector->empty()) labels_ = *selector;
    }
  }

  bool of_hyper_nodes() const { return of_hyper_nodes_; }
  // The only one that it can mean; null: it has to be looked for.
  const std::string* exact() const { return exact_ ? &*exact_ : nullptr; }
  bool means(const std::string& name, const Labels& labels) const {
    if (pattern_ != nullptr) return pattern_->ok() && re2::RE2::PartialMatch(name, *pattern_);
    return labels_ && labels_->matches(labels);
  }

 private:
  const bool of_hyper_nodes_;
  std::optional<std::string> exact_;
  std::unique_ptr<re2::RE2> pattern_;
  std::optional<LabelSelector> labels_;
};

class Collector {
 public:
  Collector(const std::map<std::string, std::shared_ptr<const Json>>& documents,
            const std::map<std::string, const Labels*>& nodes)
      : documents_(documents), nodes_(nodes) {}

  void collect(const std::string& name) {
    const auto place = documents_.find(name);
    if (place == documents_.end() || !seen_.insert(name).second) return;
    const JsonArray* members = array_at(*place->second, {"spec", "members"});
    for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
      const Member member((*members)[i]);
      member.of_hyper_nodes() ? add_hyper_nodes(member) : add_nodes(member);
    }
  }
  std::set<std::string> take() { return std::move(out_); }

 private:
  void add_hyper_nodes(const Member& member) {
    if (const std::string* exact = member.exact()) return collect(*exact);
    for (const auto& [name, document] : documents_) {
      if (member.means(name, {})) collect(name);
    }
  }
  void add_nodes(const Member& member) {
    if (const std::string* exact = member.exact()) {
      if (nodes_.contains(*exact)) out_.insert(*exact);
      return;
    }
    for (const auto& [name, labels] : nodes_) {
      if (member.means(name, *labels)) out_.insert(name);
    }
  }

  const std::map<std::string, std::shared_ptr<const Json>>& documents_;
  const std::map<std::string, const Labels*>& nodes_;
  std::set<std::string> seen_, out_;
};

}  // namespace

std::set<std::string> nodes_within(
    const std::string& hyper_node,
    const std::map<std::string, std::shared_ptr<const Json>>& documents,
    const std::map<std::string, const Labels*>& nodes) {
  Collector collector(documents, nodes);
  collector.collect(hyper_node);
  return collector.take();
}

}  // namespace krater
