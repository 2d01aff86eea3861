#include "base/error.h"

namespace capi {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kNotFound: return "NotFound";
    case Code::kAlreadyExists: return "AlreadyExists";
    case Code::kConflict: return "Conflict";
    case Code::kFailedPrecondition: return "FailedPrecondition";
    case Code::kUnauthenticated: return "Unauthenticated";
    case Code::kPermissionDenied: return "PermissionDenied";
    case Code::kGone: return "Gone";
    case Code::kRateLimited: return "RateLimited";
    case Code::kUnavailable: return "Unavailable";
    case Code::kDeadlineExceeded: return "DeadlineExceeded";
    case Code::kCancelled: return "Cancelled";
    case Code::kUnsupported: return "Unsupported";
    case Code::kInternal: return "Internal";
  }
  return "Unknown";
}

Error Error::With(std::string_view context) const {
  Error out = *this;
  out.message = std::string(context) + ": " + message;
  return out;
}

bool Error::Transient() const {
  switch (code) {
    case Code::kConflict:
    case Code::kGone:
    case Code::kRateLimited:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kInternal: return true;
    default: return false;
  }
}

}  // namespace capi
