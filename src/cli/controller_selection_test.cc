#include "cli/controller_selection.h"

#include <gtest/gtest.h>

namespace krater::cli {
namespace {

ControllerSelection of(std::string_view list) {
  return *ControllerSelection::parse(list);
}

TEST(ControllerSelection, AllRunUnlessSaidOtherwise) {
  EXPECT_TRUE(of("").wants("rayjob-controller"));
  EXPECT_TRUE(of("*").wants("job-controller"));
}

TEST(ControllerSelection, AListThatTakesAwayLeavesTheRest) {
  const ControllerSelection list = of("-rayjob, -raycluster-controller");
  EXPECT_FALSE(list.wants("rayjob-controller"));
  EXPECT_FALSE(list.wants("raycluster-controller"));
  EXPECT_TRUE(list.wants("job-controller"));
}

TEST(ControllerSelection, AListOfNamesIsAllThatRuns) {
  EXPECT_TRUE(of("job").wants("job-controller"));
  EXPECT_FALSE(of("job").wants("rayjob-controller"));
  EXPECT_TRUE(of("job,*,-queue").wants("rayjob-controller"));
  EXPECT_FALSE(of("job,*,-queue").wants("queue-controller"));
}

TEST(ControllerSelection, VolcanosManagerStandsForItsControllers) {
  for (const char* one : {"vcjob-controller", "jobflow-controller", "jobtemplate-controller",
                          "pg-controller", "queue-controller", "hypernode-controller"}) {
    EXPECT_FALSE(of("-vc-controller-manager").wants(one)) << one;
    EXPECT_TRUE(of("vc-controller-manager").wants(one)) << one;
    EXPECT_EQ(of("-vc-controller-manager,vcjob").wants(one), one == std::string("vcjob-controller"))
        << one;
    EXPECT_EQ(of("vc-controller-manager,-vcjob").wants(one), one != std::string("vcjob-controller"))
        << one;
  }
  EXPECT_TRUE(of("-vc-controller-manager").wants("job-controller"));
  EXPECT_FALSE(of("vc-controller-manager").wants("job-controller"));
  EXPECT_TRUE(of("-vc-controller-manager").check({"job"}).has_value());
}

TEST(ControllerSelection, WhatCannotBeMeantIsRefused) {
  EXPECT_FALSE(ControllerSelection::parse("a,,b").has_value());
  EXPECT_FALSE(ControllerSelection::parse("-").has_value());
  const Result<void> wrong = of("-rayjbo").check({"job", "rayjob"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message,
            "--controllers: there is no controller \"rayjbo\"; there are job, rayjob");
  EXPECT_TRUE(of("-rayjob").check({"job", "rayjob"}).has_value());
}

}  // namespace
}  // namespace krater::cli
