// The inside of Client, shared by client.cc and watch.cc.
#pragma once

#include "kube/client/client.h"
#include "kube/client/transport.h"

namespace capi::kube {

// Accept headers: the server's choice falls to the full object where it can't answer with metadata alone.
inline constexpr std::string_view kAcceptJson = "application/json";
inline constexpr std::string_view kAcceptMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view kAcceptMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

class Client::Impl {
 public:
  Impl(Config config, ClientOptions options, std::unique_ptr<Transport> transport);

  Result<http::Response> Do(const Context& ctx, const Call& call) { return transport->Do(WithDefault(ctx), call); }
  // The same, its body as the object of `resource` that `id` names in errors.
  Result<Object> DoObject(const Context& ctx, const Call& call, const Resource& resource);

  const Config config;
  const ClientOptions options;
  const std::unique_ptr<Transport> transport;
  RestMapper mapper;

 private:
  Context WithDefault(const Context& ctx) const { return ctx.deadline ? ctx : ctx.WithTimeout(options.timeout); }
};

}  // namespace capi::kube
