#include "api/server/resource_path.h"

#include <gtest/gtest.h>

namespace krater::api {
namespace {

// group/version namespace resource name subresource rest
std::string parsed(std::string_view path) {
  const auto out = parse_resource_path(path);
  if (!out) return "bad: " + out.error().message;
  if (!*out) return "none";
  const ResourcePath& p = **out;
  return p.group + "/" + p.version + " " + p.name_space + " " + p.resource + " " + p.name + " " +
         p.subresource + " " + p.rest;
}

TEST(ResourcePath, NamesWhatThePathNames) {
  EXPECT_EQ(parsed("/api/v1/pods"), "/v1  pods   ");
  EXPECT_EQ(parsed("/api/v1/namespaces/default/pods/p1/log"), "/v1 default pods p1 log ");
  EXPECT_EQ(parsed("/apis/ray.io/v1/namespaces/a/rayjobs/j/status"),
            "ray.io/v1 a rayjobs j status ");
  EXPECT_EQ(parsed("/api/v1/nodes/n1"), "/v1  nodes n1  ");
  EXPECT_EQ(parsed("/api/v1/namespaces"), "/v1  namespaces   ");
  EXPECT_EQ(parsed("/api/v1/namespaces/"), "/v1  namespaces   ");
  EXPECT_EQ(parsed("/api/v1/namespaces/default"), "/v1 default namespaces default  ");
  EXPECT_EQ(parsed("/api/v1/namespaces/default/finalize"),
            "/v1 default namespaces default finalize ");
  EXPECT_EQ(parsed("/api/v1/namespaces/default/services/s:http/proxy/a/b"),
            "/v1 default services s:http proxy /a/b");
  EXPECT_EQ(parsed("/apis/rbac/v1/roles/system%3Anode"), "rbac/v1  roles system:node  ");
}

TEST(ResourcePath, PlainPathsNameNone) {
  for (const char* path : {"/", "/version", "/api", "/api/v1", "/apis", "/apis/batch",
                           "/apis/batch/v1", "/api/v1/pods//", "/api//v1/pods", "/metrics"}) {
    EXPECT_EQ(parsed(path), "none") << path;
  }
}

TEST(ResourcePath, EncodedSlashesAndBrokenEscapesAreBad) {
  EXPECT_TRUE(parsed("/api/v1/pods/a%2Fb").starts_with("bad"));
  EXPECT_TRUE(parsed("/api/v1/pods/a%zz").starts_with("bad"));
  EXPECT_TRUE(parsed("/api/v1/pods/a%00").starts_with("bad"));
}

std::string verb(std::string_view method, std::string_view path, std::string_view query = "") {
  const auto out = verb_of(method, **parse_resource_path(path), *Query::parse(query));
  return out ? std::string(verb_name(*out)) : "none";
}

TEST(Verb, ComesFromMethodNameAndWatch) {
  EXPECT_EQ(verb("GET", "/api/v1/pods"), "list");
  EXPECT_EQ(verb("GET", "/api/v1/pods", "watch=true"), "watch");
  EXPECT_EQ(verb("GET", "/api/v1/pods", "watch=True"), "watch");
  EXPECT_EQ(verb("GET", "/api/v1/pods", "watch"), "watch");
  EXPECT_EQ(verb("GET", "/api/v1/pods", "watch=0"), "list");
  EXPECT_EQ(verb("GET", "/api/v1/pods", "watch=FALSE"), "list");
  EXPECT_EQ(verb("HEAD", "/api/v1/nodes/n"), "get");
  EXPECT_EQ(verb("DELETE", "/api/v1/nodes/n"), "delete");
  EXPECT_EQ(verb("DELETE", "/api/v1/nodes"), "deletecollection");
  EXPECT_EQ(verb("PATCH", "/api/v1/nodes/n"), "patch");
  EXPECT_EQ(verb("OPTIONS", "/api/v1/nodes/n"), "none");
}

TEST(Query, IsFormEncoded) {
  const auto query = Query::parse(
      "labelSelector=app+in+%28a%2Cb%29%2Cx%21%3Dy&command=a&command=b&empty=&limit=500");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->first("labelSelector"), "app in (a,b),x!=y");
  EXPECT_EQ(query->all("command"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(query->has("empty"));
  EXPECT_EQ(**query->integer("limit", 0), 500);
  EXPECT_FALSE(query->integer("command", 0));
  EXPECT_FALSE(*query->integer("absent", 0));
  EXPECT_FALSE(Query::parse("a=%g1"));
}

TEST(Query, APinnedFieldIsAnExactOne) {
  EXPECT_EQ(pinned_field("metadata.name=x", "metadata.name"), "x");
  EXPECT_EQ(pinned_field("a=b,spec.nodeName==n1,status.phase!=Failed", "spec.nodeName"), "n1");
  EXPECT_EQ(pinned_field("spec.nodeName!=n1", "spec.nodeName"), "");
  EXPECT_EQ(pinned_field("spec.nodeNameX=n1", "spec.nodeName"), "");
}

}  // namespace
}  // namespace krater::api
