// Fetch for who has to know whose answer came, wherever redirects led.
#pragma once

#include <functional>

#include "base/http/client.h"
#include "base/http/url.h"

namespace capi::http {

// Asked before a redirect is followed, with where it leads; an error ends the call with it.
using BeforeRedirect = std::function<Status(const Url& next)>;

// `by`: the URL that was asked last.
Result<Response> Fetch(const Context& ctx, std::string_view url, Request request, const Options& options, Url& by,
                       const BeforeRedirect& before_redirect = {});

}  // namespace capi::http
