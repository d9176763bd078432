#include "api/server/media.h"

#include <gtest/gtest.h>

namespace krater::api {
namespace {

constexpr std::string_view kKubectlTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
constexpr std::string_view kTypedClient = "application/vnd.kubernetes.protobuf,application/json";
constexpr std::string_view kMetadataClient =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

Shape shape(std::string_view accept, Offer offer = {}) {
  const auto media = negotiate(accept, offer);
  EXPECT_TRUE(media) << accept;
  return media->shape;
}

TEST(Accept, TakesTheFirstClauseThatCanBeProduced) {
  EXPECT_EQ(shape(kKubectlTable), Shape::Table);
  Offer no_table;
  no_table.table = false;
  EXPECT_EQ(shape(kKubectlTable, no_table), Shape::Full);
  EXPECT_EQ(shape(kTypedClient), Shape::Full);
  EXPECT_EQ(shape(""), Shape::Full);
  EXPECT_EQ(shape("*/*"), Shape::Full);
  EXPECT_EQ(shape("application/json;as=Table;v=v2;g=meta.k8s.io,application/json"), Shape::Full);
  Offer list;
  list.list = true;
  EXPECT_EQ(shape(kMetadataClient, list), Shape::PartialMetadata);
  EXPECT_EQ(shape(kMetadataClient), Shape::Full);  // the list form for one object is none we know
}

TEST(Accept, QualityOrders) {
  EXPECT_EQ(negotiate("application/json;q=0.5,application/yaml", {})->format, Format::Yaml);
  EXPECT_EQ(negotiate("application/yaml;q=0.1,application/json", {})->format, Format::Json);
  EXPECT_FALSE(negotiate("application/json;q=0", {}));
}

TEST(Accept, WhatNobodyMakesIsNotAcceptable) {
  const auto none = negotiate("application/vnd.kubernetes.protobuf", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::NotAcceptable);
  Offer no_table;
  no_table.table = false;
  EXPECT_FALSE(negotiate("application/json;as=Table;v=v1;g=meta.k8s.io", no_table));
}

TEST(ContentType, OfBodiesAndPatches) {
  EXPECT_EQ(*body_format(""), BodyFormat::Json);
  EXPECT_EQ(*body_format("application/json; charset=utf-8"), BodyFormat::Json);
  EXPECT_EQ(*body_format("application/yaml"), BodyFormat::Yaml);
  EXPECT_EQ(*body_format("application/vnd.kubernetes.protobuf"), BodyFormat::Protobuf);
  EXPECT_EQ(body_format("text/html").error().code, Code::UnsupportedMedia);
  EXPECT_EQ(*patch_type("application/merge-patch+json"), client::PatchType::Merge);
  EXPECT_EQ(*patch_type("application/json-patch+json"), client::PatchType::Json);
  EXPECT_EQ(*patch_type("application/strategic-merge-patch+json"),
            client::PatchType::StrategicMerge);
  EXPECT_EQ(*patch_type("application/apply-patch+yaml"), client::PatchType::Apply);
  EXPECT_EQ(patch_type("application/json").error().code, Code::UnsupportedMedia);
  EXPECT_EQ(patch_type("application/apply-patch+cbor").error().code, Code::UnsupportedMedia);
}

}  // namespace
}  // namespace krater::api
