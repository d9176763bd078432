#include "cli/store_metrics.h"

#include <filesystem>
#include <set>

#include "api/registry/keys.h"

namespace krater::cli {
namespace {

namespace fs = std::filesystem;

double bytes_below(const std::string& directory) {
  std::error_code problem;
  std::uintmax_t total = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, problem)) {
    const std::uintmax_t size = entry.file_size(problem);  // files come and go
    if (!problem) total += size;
  }
  return static_cast<double>(total);
}

std::vector<api::Metrics::Sample> objects(const storage::Store& store,
                                          const api::SchemaSet& schemas) {
  const storage::SnapshotPtr now = store.snapshot();
  std::set<std::string> resources;
  for (const api::KindSchemaPtr& schema : schemas.all())
    resources.insert(schema->stored_kind().resource());
  std::vector<api::Metrics::Sample> out;
  for (const std::string& resource : resources) {
    const Result<std::size_t> count = now->count(api::store_range(resource, ""));
    if (count) out.push_back({"resource=\"" + resource + "\"", static_cast<double>(*count)});
  }
  return out;
}

}  // namespace

void add_store_metrics(api::Metrics& to, const storage::Store& store, const api::SchemaSet& schemas,
                       const std::string& directory) {
  to.add_family("apiserver_storage_objects", "Stored objects by resource.", "gauge",
                [&store, &schemas] { return objects(store, schemas); });
  to.add_family("apiserver_storage_size_bytes", "Bytes of the store's files.", "gauge",
                [directory] {
                  return std::vector<api::Metrics::Sample>{
                      {R"(storage_cluster_id="krater-0")", bytes_below(directory)}};
                });
}

}  // namespace krater::cli
