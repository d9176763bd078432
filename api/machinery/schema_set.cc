#include <map>
#include <tuple>

#include "api/machinery/kind_schema.h"
#include "api/machinery/openapi.h"
#include "api/machinery/protobuf.h"
#include "api/machinery/schema.h"
#include "api/schemas/embedded.h"
#include "base/check.h"

namespace krater::api {
namespace {

// "authentication.k8s.io/v1" and "TokenRequest" are the message authentication/v1.TokenRequest; the
// core group's are in core/v1, except what every group shares.
std::string message_name(std::string_view api_version, std::string_view kind) {
  if (kind == "DeleteOptions") return "meta/v1.DeleteOptions";
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos)
    return "core/" + std::string(api_version) + "." + std::string(kind);
  const std::string_view group = api_version.substr(0, slash);
  return std::string(group.substr(0, group.find('.'))) + std::string(api_version.substr(slash)) +
         "." + std::string(kind);
}

class BuiltinSchemas final : public SchemaSet {
 public:
  BuiltinSchemas() {
    auto table = std::make_shared<TypeTable>();
    std::vector<Json> documents;
    for (std::string_view text : embedded_schemas()) {
      auto document = parse_json(text);
      CHECK(document.has_value());
      documents.push_back(*std::move(document));
    }
    for (const Json& document : documents) table->add_document(document);
    for (const Json& document : documents) {
      if (auto head = read_kind_head(document)) add_kind(*std::move(head), *table, table);
      add_messages(document, *table);
    }
    table->forget_documents();
    table_ = std::move(table);
  }

  KindSchemaPtr find(std::string_view group, std::string_view version,
                     std::string_view plural) const override {
    for (const KindSchemaPtr& schema : all_) {
      const Kind& kind = schema->kind();
      if (kind.plural == plural && kind.group == group && kind.version == version) return schema;
    }
    return nullptr;
  }

  KindSchemaPtr find_kind(std::string_view api_version, std::string_view kind_name) const override {
    for (const KindSchemaPtr& schema : all_) {
      const Kind& kind = schema->kind();
      if (kind.kind == kind_name && kind.api_version() == api_version) return schema;
    }
    return nullptr;
  }

  KindSchemaPtr find_resource(std::string_view resource) const override {
    for (const KindSchemaPtr& schema : all_) {
      if (schema->storage_version() && schema->kind().resource() == resource) return schema;
    }
    return nullptr;
  }

  std::vector<KindSchemaPtr> all() const override { return all_; }

  Result<Json> decode_protobuf_message(std::string_view name,
                                       std::string_view body) const override {
    TRY_ASSIGN(const ProtobufEnvelope envelope, read_envelope(body));
    const std::string wanted =
        name.empty() ? message_name(envelope.api_version, envelope.kind) : std::string(name);
    const auto found = messages_.find(wanted);
    if (found == messages_.end()) {
      return make_error(Code::BadRequest, "no kind \"" + envelope.kind +
                                              "\" is registered for version \"" +
                                              envelope.api_version + "\"");
    }
    return decode_protobuf_object(*found->second, body);
  }

  std::vector<std::string> openapi_v3_paths() const override { return openapi_.v3_paths(all_); }
  std::optional<std::string> openapi_v3(std::string_view path) const override {
    return openapi_.v3(all_, path);
  }
  std::string openapi_v2() const override { return openapi_.v2(all_); }

 private:
  void add_kind(KindHead head, TypeTable& table, const std::shared_ptr<TypeTable>& shared) {
    const SchemaNode* root = table.find(head.type_name);
    CHECK_MSG(root != nullptr, head.type_name);
    openapi_.add_kind(head.kind, head.type_name, head.native);
    all_.push_back(make_kind_schema(std::move(head), *root, shared));
  }

  // Every type is a message that a request may carry; the numbers stand in the same nodes.
  void add_messages(const Json& document, TypeTable& table) {
    const std::string package = text_at(document, {"package"});
    if (!bool_at(document, {"native"}).value_or(false) && package != "meta/v1") return;
    for (const auto& type : *object_at(document, {"types"})) {
      const std::string name = package + "." + std::string(type.key());
      messages_.emplace(name, table.find(name));
    }
  }

  std::shared_ptr<const TypeTable> table_;
  std::vector<KindSchemaPtr> all_;
  std::map<std::string, const SchemaNode*, std::less<>> messages_;
  OpenApiDocuments openapi_;
};

}  // namespace

std::unique_ptr<SchemaSet> make_builtin_schemas() {
  return std::make_unique<BuiltinSchemas>();
}

}  // namespace krater::api
