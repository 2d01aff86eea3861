#include "kube/client/status_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(ErrorFromStatus, MapsReasonsToCodes) {
  struct Case {
    std::string_view status;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {R"({"reason":"NotFound","code":404,"message":"m"})", Code::kNotFound, "m"},
      {R"({"reason":"AlreadyExists","code":409,"message":"m"})", Code::kAlreadyExists, "m"},
      {R"({"reason":"Conflict","code":409,"message":"m"})", Code::kConflict, "m"},
      {R"({"reason":"Invalid","code":422,"message":"m"})", Code::kInvalidArgument, "m"},
      {R"({"reason":"BadRequest","code":400,"message":"m"})", Code::kInvalidArgument, "m"},
      {R"({"reason":"Unauthorized","code":401,"message":"m"})", Code::kUnauthenticated, "m"},
      {R"({"reason":"Forbidden","code":403,"message":"m"})", Code::kPermissionDenied, "m"},
      {R"({"reason":"Expired","code":410,"message":"m"})", Code::kGone, "m"},
      {R"({"reason":"Gone","code":410,"message":"m"})", Code::kGone, "m"},
      {R"({"reason":"TooManyRequests","code":429,"message":"m"})", Code::kRateLimited, "m"},
      {R"({"reason":"Timeout","code":504,"message":"m"})", Code::kUnavailable, "m"},
      {R"({"reason":"ServerTimeout","code":500,"message":"m"})", Code::kUnavailable, "m"},
      {R"({"reason":"ServiceUnavailable","code":503,"message":"m"})", Code::kUnavailable, "m"},
      {R"({"reason":"UnsupportedMediaType","code":415,"message":"m"})", Code::kUnsupported, "m"},
      {R"({"reason":"MethodNotAllowed","code":405,"message":"m"})", Code::kUnsupported, "m"},
      {R"({"reason":"InternalError","code":500,"message":"m"})", Code::kInternal, "m"},
      {R"({"code":404})", Code::kNotFound, "the server gave no reason"},
      {R"({"reason":"Novel","code":502})", Code::kUnavailable, "Novel"},
      {R"({"reason":"InternalError","code":500,"message":"Internal error occurred: failed calling webhook \"w\": EOF"})",
       Code::kUnavailable, "Internal error occurred: failed calling webhook \"w\": EOF"},
      {R"({"reason":"TooManyRequests","code":429,"message":"storage is (re)initializing"})", Code::kUnavailable,
       "storage is (re)initializing"},  // docs/behaviour.md P3
      {R"({"reason":"Forbidden","code":403,"message":"m","details":{"causes":[{"reason":"NamespaceTerminating",
         "message":"m"}]}})",
       Code::kFailedPrecondition, "m"},
      // F5, F9: an apply of an unknown field, and of a field of another type, as API servers answer them.
      {R"({"status":"Failure","message":"failed to create typed patch object (n/m; /v1, Kind=ConfigMap): .dataa: field not declared in schema","code":500})",
       Code::kFailedPrecondition,
       "failed to create typed patch object (n/m; /v1, Kind=ConfigMap): .dataa: field not declared in schema"},
      {R"({"message":"failed to create typed patch object (n/m; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string","code":500})",
       Code::kFailedPrecondition,
       "failed to create typed patch object (n/m; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or "
       "float), got string"},
      {R"({"message":"failed to create typed live object (n/m; /v1, Kind=ConfigMap): no such type","code":500})",
       Code::kInternal, "failed to create typed live object (n/m; /v1, Kind=ConfigMap): no such type"},
      {R"({"code":500,"message":"etcdserver: request timed out"})", Code::kUnavailable,
       "etcdserver: request timed out"},
      {R"({"reason":"InternalError","message":"failed to create typed patch object (n/m): x","code":500})",
       Code::kInternal, "failed to create typed patch object (n/m): x"},
      {R"({"reason":"Invalid","code":422,"message":"bad: first","details":{"causes":[{"message":"first",
         "field":"x"},{"message":"second","field":"spec.y"},{"message":"third"}]}})",
       Code::kInvalidArgument, "bad: first (spec.y: second, third)"},
      // U9: what is denied isn't invalid: another object of that kind would be denied as well.
      {R"({"reason":"Invalid","code":422,"message":"x: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"})",
       Code::kPermissionDenied, "x: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"},
      {R"({"code":400,"message":"admission webhook \"w.example.com\" denied the request: no"})",
       Code::kPermissionDenied, "admission webhook \"w.example.com\" denied the request: no"},
      {R"({"reason":"NotFound","code":404,"message":"admission webhook \"w\" denied the request: no class"})",
       Code::kPermissionDenied, "admission webhook \"w\" denied the request: no class"},
      {R"({"reason":"Conflict","code":409,"message":"admission webhook \"w\" denied the request: in use"})",
       Code::kPermissionDenied, "admission webhook \"w\" denied the request: in use"},
      {R"({"reason":"TooManyRequests","code":429,"message":"admission webhook \"w\" denied the request: later"})",
       Code::kRateLimited, "admission webhook \"w\" denied the request: later"},
      {R"({"reason":"InternalError","code":500,"message":"admission webhook \"w\" denied the request: oops"})",
       Code::kInternal, "admission webhook \"w\" denied the request: oops"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.status);
    Error error = ErrorFromStatus(Json::parse(c.status));
    EXPECT_EQ(CodeName(error.code), CodeName(c.code));
    EXPECT_EQ(error.message, c.message);
  }
}

TEST(ErrorFromStatus, KeepsHowLongToWait) {
  Error error = ErrorFromStatus(Json::parse(R"({"code":429,"details":{"retryAfterSeconds":7}})"));
  EXPECT_EQ(error.retry_after, std::chrono::milliseconds(7000));
  error = ErrorFromStatus(Json::parse(R"({"code":429,"details":{"retryAfterSeconds":9223372036854775807}})"));
  EXPECT_EQ(error.retry_after, std::chrono::hours(24)) << "more than a clock holds";
}

TEST(ErrorFromResponse, StorageThatIsInitializingSaysNotWhenToComeBack) {
  http::Response response{.status = 429, .headers = {}, .body = R"({"kind":"Status","reason":"TooManyRequests",
    "code":429,"message":"storage is (re)initializing","details":{"retryAfterSeconds":1}})"};
  response.headers.Set("Retry-After", "1");
  Error error = ErrorFromResponse(response);
  EXPECT_TRUE(StorageInitializing(error));
  EXPECT_FALSE(error.retry_after.has_value());
  EXPECT_FALSE(StorageInitializing({Code::kUnavailable, "refused", {}}));
}

// F5, U5: whatever passed by itself, and was none of a few texts, was taken for an outage of the API server, which
// answered all others: a change that met it each time was tried for good.
TEST(IsOutage, OnlyWhatTellsThatTheServerIsAway) {
  struct Case {
    const char* status;
    bool outage;
  };
  const Case cases[] = {
      {R"({"reason":"InternalError","code":500,"message":"Internal error occurred: failed calling webhook \"w\": EOF"})",
       false},
      {R"({"reason":"InternalError","code":500,"message":"conversion webhook for x.io/v1, Kind=Fox failed: EOF"})",
       false},
      {R"({"reason":"InternalError","code":500,"message":"admission webhook \"w\" denied the request: oops"})", false},
      {R"({"reason":"Conflict","code":409,"message":"the object has been modified"})", false},
      {R"({"reason":"Forbidden","code":403,"message":"admission webhook \"w\" denied the request: no"})", false},
      {R"({"reason":"TooManyRequests","code":429,"message":"admission webhook \"w\" denied the request: later"})",
       false},
      {R"({"reason":"TooManyRequests","code":429,"message":"storage is (re)initializing"})", false},
      {R"({"reason":"Expired","code":410,"message":"too old resource version"})", false},
      {R"({"reason":"InternalError","code":500,"message":"Internal error occurred: add operation does not apply: doc is missing path"})",
       false},
      {R"({"reason":"StorageReadError","code":500,"message":"data from the storage is not decodable"})", false},
      {R"({"code":500,"message":"failed to create typed live object (n/m; /v1, Kind=ConfigMap): no such type"})",
       false},
      {R"({"code":500,"message":"conversion webhook for x.io/v1, Kind=Fox failed: EOF"})", false},
      {R"({"code":500,"message":"etcdserver: leader changed"})", true},
      {R"({"code":500,"message":"rpc error: code = Unavailable desc = transport is closing"})", true},
      {R"({"reason":"InternalError","code":500,"message":"Internal error occurred: etcdserver: no leader"})", true},
      {R"({"code":500,"message":"rpc error: code = 13 desc = transport is closing"})", true},
      {R"({"code":500,"message":"etcdserver: request is too large"})", false},
      {R"({"reason":"InternalError","code":500,"message":"Internal error occurred: rpc error: code = DeadlineExceeded desc = context deadline exceeded"})",
       false},
      {R"({"code":500,"message":"failed to encrypt DEK, error: rpc error: code = Unavailable desc = connection error"})",
       false},
      {R"({"code":500,"message":"rpc error: code = ResourceExhausted desc = trying to send message larger than max"})",
       false},
      {R"({"reason":"ServerTimeout","code":500,"message":"etcd is slow"})", true},
      {R"({"reason":"ServiceUnavailable","code":503,"message":"etcd has no leader"})", true},
      {R"({"reason":"Timeout","code":504,"message":"request did not complete"})", true},
      {R"({"reason":"TooManyRequests","code":429,"message":"too many requests"})", true},
  };
  for (const Case& c : cases) EXPECT_EQ(IsOutage(ErrorFromStatus(Json::parse(c.status))), c.outage) << c.status;
}

// The same of what isn't a Status: a balancer's, or how an API server has no answer of an aggregated API's server.
TEST(IsOutage, OfABareAnswer) {
  struct Case {
    int status;
    const char* body;
    bool outage;
  };
  for (const Case& c : {Case{502, "bad gateway", true},
                        {503, "no healthy upstream", true},
                        {504, "", true},
                        {429, "", true},
                        {503, "service unavailable\n", false},
                        {503, "error trying to reach service: dial tcp 10.0.0.2:443: connect: refused\n", false},
                        {500, "", false},
                        {500, "oops", false}}) {
    Error error = ErrorFromResponse({.status = c.status, .headers = {}, .body = c.body});
    EXPECT_EQ(IsOutage(error), c.outage) << error.message;
    EXPECT_TRUE(error.Transient()) << error.message;
  }
}

// And of what is no answer.
TEST(IsOutage, OfARequestWithoutAnAnswer) {
  EXPECT_TRUE(IsOutage({Code::kUnavailable, "connect to 10.0.0.1:443: refused", {}}));
  EXPECT_FALSE(IsOutage({Code::kDeadlineExceeded, "PATCH /api: deadline exceeded", {}})) << "a webhook may hang";
  EXPECT_FALSE(IsOutage({Code::kDeadlineExceeded, "waiting for the deletion of the old object", {}}));
  EXPECT_FALSE(IsOutage(GroupIsAway("Fox.aggregated.example")));
}

TEST(ErrorFromResponse, TellsAPathThatIsNotServedFromAnObjectThatIsNotThere) {
  auto no_path = [](int status, std::string body) {
    return IsNoSuchPath(ErrorFromResponse({.status = status, .headers = {}, .body = std::move(body)}));
  };
  EXPECT_TRUE(no_path(404, "404 page not found\n"));
  EXPECT_FALSE(no_path(404, R"({"kind":"Status","reason":"NotFound","code":404,"message":"foxes \"a\" not found"})"));
  EXPECT_FALSE(no_path(503, "404 page not found\n"));
  auto gone = [](int status, std::string body) {
    return IsGone(ErrorFromResponse({.status = status, .headers = {}, .body = std::move(body)}));
  };
  EXPECT_FALSE(gone(404, "404 page not found\n"));
  EXPECT_FALSE(gone(404, ""));
  EXPECT_TRUE(gone(404, R"({"kind":"Status","reason":"NotFound","code":404,"message":"foxes \"a\" not found"})"));
  EXPECT_FALSE(gone(410, R"({"kind":"Status","reason":"Gone","code":410,"message":"too old"})"));
}

TEST(ErrorFromResponse, TakesTheHeaderAndBareAnswers) {
  http::Response response{.status = 503, .headers = {}, .body = "upstream\n\xff gone"};
  response.headers.Set("Retry-After", "2");
  Error error = ErrorFromResponse(response);
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_THAT(error.message, testing::StartsWith("HTTP 503: \"upstream\\n"));
  EXPECT_EQ(error.retry_after, std::chrono::milliseconds(2000));

  response = {.status = 404, .headers = {}, .body = R"({"kind":"Status","message":"gone away"})"};
  response.headers.Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT");
  error = ErrorFromResponse(response);
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_EQ(error.message, "gone away");
  EXPECT_FALSE(error.retry_after.has_value());
  EXPECT_EQ(ErrorFromResponse({.status = 500, .headers = {}, .body = ""}).message, "HTTP 500");
  const std::string page(500, 'x');
  EXPECT_EQ(ErrorFromResponse({.status = 502, .headers = {}, .body = page}).message, "HTTP 502: \"" + page + "\"");
  EXPECT_EQ(ErrorFromResponse({.status = 502, .headers = {}, .body = page + "y"}).message,
            "HTTP 502, with a body of 501 bytes")
      << "I7: never a part of it";
}

}  // namespace
}  // namespace capi::kube
