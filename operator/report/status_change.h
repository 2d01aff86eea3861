// What a pass made of a provider's status, and what follows from the difference. Pure.
#pragma once

#include "operator/report/summarize.h"

namespace capi::ops {

// The status says that the provider is Ready.
bool IsReady(const api::ProviderStatus& status);

// Whether another pass follows at once, one for which no event is to come.
bool GoesOn(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done);

// The same conditions with the same status and reason, in other words; and what else is in a status is the same.
bool OnlyWordsDiffer(const api::ProviderStatus& was, const api::ProviderStatus& is);

// Whether the write of `is` may wait a little while. A message with a time may not: the next pass is then (F5).
bool MayWait(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done);

}  // namespace capi::ops
