#include "kube/client/client.h"

#include "kube/client/client_impl.h"
#include "kube/client/query.h"
#include "kube/client/warnings.h"

namespace capi::kube {
namespace {

std::string AcceptFor(bool metadata_only) { return std::string(metadata_only ? kAcceptMetadata : kAcceptJson); }

std::string WriteTarget(const Resource& resource, std::string_view ns, std::string_view name,
                        const WriteOptions& options, bool force = false) {
  Query query;
  query.Add("fieldManager", options.field_manager);
  if (force) query.Add("force", "true");
  if (options.dry_run) query.Add("dryRun", "All");
  query.Add("fieldValidation", options.strict ? "Strict" : "Warn");
  return query.AppendTo(resource.Path(ns, name, options.subresource));
}

// Without a name the path is that of all objects of the kind: a GET would list them, a DELETE would delete them all.
Status CheckNamed(const Resource& resource, std::string_view name) {
  if (!name.empty()) return Ok();
  return Error{Code::kInvalidArgument, "a request for one " + resource.kind + " has no name of it", {}};
}

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kMerge: return "application/merge-patch+json";
    case PatchType::kJson: return "application/json-patch+json";
  }
  return "";
}

}  // namespace

Client::Impl::Impl(Config c, std::unique_ptr<Transport> t)
    : config(std::move(c)),
      transport(std::move(t)),
      mapper(
          [this](const Context& ctx, std::string_view path, std::string_view accept) -> Result<std::string> {
            Call call{.target = std::string(path), .accept = std::string(accept), .repeatable = true};
            return TRY(Do(ctx, call)).body;
          },
          SystemClock()) {}

Result<Object> Client::Impl::DoObject(const Context& ctx, const Call& call, const Resource& resource,
                                      std::vector<std::string>* warnings) {
  http::Response response = TRY(Do(ctx, call));
  if (warnings != nullptr) {
    for (std::string& warning : WarningsOf(response.headers)) warnings->push_back(std::move(warning));
  }
  auto answer = ParseJson(response.body);
  if (!answer.ok()) {  // who is told kInvalidArgument takes what may have been done for refused
    return Error{Code::kInternal, "answer to " + call.method + " " + call.target + ": " + answer.error().message, {}};
  }
  Object out(*std::move(answer));
  if (!out.json().is_object()) return Error{Code::kInternal, "answer to " + call.target + " is no object", {}};
  if (out.kind() == "PartialObjectMetadata") {
    out.json()["apiVersion"] = resource.api_version();
    out.json()["kind"] = resource.kind;
  }
  return out;
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::Connect(const Config& config, const ClientOptions& options) {
  auto transport = TRY(Transport::Create(config, options));
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(config, std::move(transport))));
}

void Client::GuardWrites(std::function<Status(const Context&)> may_write) {
  impl_->transport->GuardWrites(std::move(may_write));
}

RestMapper& Client::mapper() { return impl_->mapper; }
const Config& Client::config() const { return impl_->config; }

Result<Object> Client::Get(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                           const GetOptions& options) {
  TRY(CheckNamed(resource, name));
  Call call{.target = resource.Path(ns, name), .accept = AcceptFor(options.metadata_only), .repeatable = true};
  return impl_->DoObject(ctx, call, resource);
}

Result<Object> Client::Apply(const Context& ctx, const Resource& resource, const Object& object,
                             const WriteOptions& options) {
  return ApplyText(ctx, resource, object.ns(), object.name(), ToJsonText(object.json()), options);
}

Result<Object> Client::ApplyText(const Context& ctx, const Resource& resource, std::string_view ns,
                                 std::string_view name, std::string text, const WriteOptions& options) {
  TRY(CheckNamed(resource, name));
  Call call{.method = "PATCH",
            .target = WriteTarget(resource, ns, name, options, /*force=*/true),
            .body = std::move(text),
            .content_type = "application/apply-patch+yaml",  // JSON is YAML
            .accept = AcceptFor(options.metadata_only),
            .repeatable = true,
            .unguarded = options.unguarded};
  return impl_->DoObject(ctx, call, resource, options.warnings);
}

Result<Object> Client::Create(const Context& ctx, const Resource& resource, const Object& object,
                              const WriteOptions& options) {
  // A subresource (a Pod's eviction, a ServiceAccount's token) is created under its object, anything else in its
  // folder.
  std::string name = options.subresource.empty() ? "" : object.name();
  Call call{.method = "POST",
            .target = WriteTarget(resource, object.ns(), name, options),
            .body = ToJsonText(object.json()),
            .content_type = std::string(kAcceptJson),
            .accept = AcceptFor(options.metadata_only),
            .repeatable = options.dry_run,
            .unguarded = options.unguarded};
  return impl_->DoObject(ctx, call, resource, options.warnings);
}

Result<Object> Client::Update(const Context& ctx, const Resource& resource, const Object& object,
                              const WriteOptions& options) {
  const std::string name = object.name();
  TRY(CheckNamed(resource, name));
  Call call{.method = "PUT",
            .target = WriteTarget(resource, object.ns(), name, options),
            .body = ToJsonText(object.json()),
            .content_type = std::string(kAcceptJson),
            .accept = AcceptFor(options.metadata_only),
            .repeatable = options.dry_run || options.repeatable,
            .unguarded = options.unguarded};
  return impl_->DoObject(ctx, call, resource, options.warnings);
}

Result<Object> Client::Patch(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                             PatchType type, const Json& patch, const WriteOptions& options) {
  TRY(CheckNamed(resource, name));
  Call call{.method = "PATCH",
            .target = WriteTarget(resource, ns, name, options),
            .body = ToJsonText(patch),
            .content_type = std::string(ContentType(type)),
            .accept = AcceptFor(options.metadata_only),
            .repeatable = type == PatchType::kMerge || options.dry_run || options.repeatable,
            .unguarded = options.unguarded};
  return impl_->DoObject(ctx, call, resource, options.warnings);
}

Status Client::Delete(const Context& ctx, const Resource& resource, std::string_view ns, std::string_view name,
                      const DeleteOptions& options) {
  TRY(CheckNamed(resource, name));
  Json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (!options.uid.empty()) Ensure(body, {"preconditions", "uid"}) = options.uid;
  if (!options.resource_version.empty()) Ensure(body, {"preconditions", "resourceVersion"}) = options.resource_version;
  Call call{.method = "DELETE",
            .target = resource.Path(ns, name),
            .body = ToJsonText(body),
            .content_type = std::string(kAcceptJson),
            .repeatable = true};
  return TRY(impl_->Do(ctx, call)), Ok();
}

Status Client::Ping(const Context& ctx) { return impl_->transport->Ping(ctx); }

Result<std::string> Client::Raw(const Context& ctx, std::string_view method, std::string_view target, std::string body,
                                std::string_view content_type, std::string_view accept) {
  Call call{.method = std::string(method),
            .target = std::string(target),
            .body = std::move(body),
            .content_type = std::string(content_type),
            .accept = std::string(accept),
            .repeatable = method == "GET" || method == "HEAD"};
  return TRY(impl_->Do(ctx, call)).body;
}

}  // namespace capi::kube
