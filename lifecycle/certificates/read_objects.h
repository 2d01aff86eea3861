// One object of cert-manager, read. Pure and thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "kube/meta/object.h"
#include "lifecycle/certificates/requests.h"

namespace capi::certificates {

// Of a Certificate, without issuer_secret, which the Issuer says. kInvalidArgument with the path of the field.
Result<Request> RequestOf(const kube::Object& certificate);

// The spec of a Certificate that asks for it, nothing left to defaults.
Json SpecOf(const Request& request);

// Of an Issuer or ClusterIssuer: the Secret with its CA, "" for one whose certificates sign themselves.
// kInvalidArgument, with the path of the field, for one of another sort.
Result<std::string> CaSecretOf(const kube::Object& issuer);

// kInvalidArgument for a version that cert-manager has never served, or no namespace where the kind has one.
Status CheckForm(const kube::Object& object);

// What a person reads of a field that can't be done here.
inline constexpr const char* kUnsupported =
    "isn't supported without cert-manager: install cert-manager, or leave it out of the release";

}  // namespace capi::certificates
