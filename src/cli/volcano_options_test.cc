#include "cli/volcano_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace krater::cli {
namespace {

VolcanoOptions parse(const std::string& line) {
  CLI::App app;
  VolcanoOptions out;
  add_volcano_options(app, out);
  app.parse(line, false);
  return out;
}

std::string error_of(const std::string& line) {
  const auto choices = read_volcano_options(parse(line));
  return choices ? "" : choices.error().message;
}

TEST(VolcanoOptions, WhatIsNotSaidIsAsInVolcano) {
  const VolcanoOptions options = parse("");
  const auto choices = *read_volcano_options(options);
  EXPECT_EQ(choices.scheduler_names, std::vector<std::string>{"volcano"});
  EXPECT_TRUE(choices.takes_default_scheduler);
  EXPECT_EQ(choices.default_queue, "default");
  EXPECT_TRUE(choices.node_selector.empty());
  api::AdmissionSettings settings;
  settings.protects_root_queue = false;
  apply(options, choices, settings);
  EXPECT_EQ(settings.max_queue_depth, 5);
  EXPECT_TRUE(settings.protects_root_queue);
  EXPECT_FALSE(settings.keeps_queues_with_pods);
}

TEST(VolcanoOptions, NamesAndLabelsMayBeGivenMoreThanOnce) {
  const auto choices = *read_volcano_options(
      parse("--scheduler-name gangs --scheduler-name volcano --node-selector role:train,role:serve "
            "--node-selector=zone:a --default-queue lab"));
  EXPECT_EQ(choices.scheduler_names, (std::vector<std::string>{"gangs", "volcano"}));
  EXPECT_FALSE(choices.takes_default_scheduler);
  using Labels = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(choices.node_selector, (Labels{{"role", "train"}, {"role", "serve"}, {"zone", "a"}}));
  EXPECT_EQ(choices.default_queue, "lab");
}

TEST(VolcanoOptions, SwitchesOfTheWebhookAreSpelledAsThere) {
  const VolcanoOptions options = parse(
      "--enable-root-queue-protection=false --enable-queue-allocated-pods-check=true "
      "--max-queue-depth=7");
  api::AdmissionSettings settings;
  apply(options, *read_volcano_options(options), settings);
  EXPECT_FALSE(settings.protects_root_queue);
  EXPECT_TRUE(settings.keeps_queues_with_pods);
  EXPECT_EQ(settings.max_queue_depth, 7);
}

TEST(VolcanoOptions, WhatCannotBeIsRefusedByName) {
  EXPECT_EQ(error_of("--node-selector role"), "--node-selector must be KEY:VALUE, not \"role\"");
  EXPECT_EQ(error_of("--node-selector role:"), "--node-selector must be KEY:VALUE, not \"role:\"");
  EXPECT_EQ(error_of("--admission-configmap a/b"),
            "--admission-configmap must be NAMESPACE/NAME/KEY, not \"a/b\"");
  EXPECT_EQ(error_of("--default-queue root"),
            "--default-queue must be the name of a queue below root, not \"root\"");
  EXPECT_EQ(error_of("--schedule-period soon"),
            "--schedule-period must be a time such as 1s, not \"soon\"");
}

}  // namespace
}  // namespace krater::cli
