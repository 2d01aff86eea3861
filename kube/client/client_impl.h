// The inside of Client, shared by client.cc and list_watch.cc.
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
  Impl(Config config, std::unique_ptr<Transport> transport);

  Result<http::Response> Do(const Context& ctx, const Call& call) { return transport->Do(ctx, call); }
  // The same, its body as the object of `resource` that `id` names in errors.
  Result<Object> DoObject(const Context& ctx, const Call& call, const Resource& resource,
                          std::vector<std::string>* warnings = nullptr);

  const Config config;
  const std::unique_ptr<Transport> transport;
  RestMapper mapper;
};

}  // namespace capi::kube
