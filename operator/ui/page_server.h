// Serves the page of --ui-address: its files, its data, and what is new (behaviour.md B1, B4, B5).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/http/server/server.h"
#include "kube/client/client.h"
#include "operator/ui/feed.h"

namespace capi::ops::ui {

// On a loopback address plain HTTP, for everybody who reaches it by a loopback name. Else HTTPS with a certificate that
// is made at the start: the files of the page for everybody, all else for callers whose token may get providers. Before
// `ready`, when `feed` doesn't have all providers yet, there is no data (503). `feed` and `client` outlive it; `ready`
// is called in several threads at once.
Result<std::unique_ptr<http::Server>> ServePage(const std::string& address, Feed& feed, kube::Client& client,
                                                Logger log, std::function<bool()> ready);

}  // namespace capi::ops::ui
