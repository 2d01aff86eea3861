// Fetch for who has to know whose answer came, wherever redirects led.
#pragma once

#include "base/http/client.h"
#include "base/http/url.h"

namespace capi::http {

// `by`: the URL that was asked last.
Result<Response> Fetch(const Context& ctx, std::string_view url, Request request, const Options& options, Url& by);

}  // namespace capi::http
