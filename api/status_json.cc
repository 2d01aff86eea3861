#include "api/types.h"

namespace capi::api {
namespace {

HistoryEntry HistoryFromJson(const Json& entry) {
  return {GetString(entry, {"version"}), GetString(entry, {"contract"}), GetString(entry, {"digest"}),
          GetString(entry, {"time"}),    GetString(entry, {"outcome"}),  GetString(entry, {"started"}),
          GetString(entry, {"inputs"}),  GetString(entry, {"message"}),  GetString(entry, {"insteadOf"})};
}

UpdateCheck UpdateCheckFromJson(const Json& check) {
  return {GetString(check, {"source"}), GetString(check, {"time"}), GetString(check, {"next"})};
}

void PutText(Json& out, const char* key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

AvailableUpgrade UpgradeFromJson(const Json& one) {
  AvailableUpgrade out{GetString(one, {"version"}), GetString(one, {"contract"}), GetString(one, {"needs"})};
  const Json* refused = Find(one, {"refused"});
  if (refused != nullptr && refused->is_object()) {
    out.refused = UpgradeRefusal{GetString(*refused, {"inputs"}), GetString(*refused, {"since"}),
                                 GetString(*refused, {"until"}), GetString(*refused, {"message"})};
  }
  return out;
}

void UpdatesFromJson(const Json& status, ProviderStatus& out) {
  if (const Json* upgrades = Find(status, {"availableUpgrades"}); upgrades != nullptr && upgrades->is_array()) {
    for (const Json& one : *upgrades) out.available_upgrades.push_back(UpgradeFromJson(one));
  }
  const Json* check = Find(status, {"updateCheck"});
  if (check != nullptr && check->is_object()) out.update_check = UpdateCheckFromJson(*check);
}

void UpdatesToJson(const ProviderStatus& status, Json& out) {
  for (const AvailableUpgrade& one : status.available_upgrades) {
    Json item = {{"version", one.version}};
    PutText(item, "contract", one.contract);
    PutText(item, "needs", one.needs);
    if (one.refused) {
      Json& refused = item["refused"] = Json::object();
      PutText(refused, "inputs", one.refused->inputs);
      PutText(refused, "since", one.refused->since);
      PutText(refused, "until", one.refused->until);
      PutText(refused, "message", one.refused->message);
    }
    out["availableUpgrades"].push_back(std::move(item));
  }
  if (status.update_check) {
    Json& check = out["updateCheck"] = {{"source", status.update_check->source}};
    PutText(check, "time", status.update_check->time);
    PutText(check, "next", status.update_check->next);
  }
}

}  // namespace

// Nothing here fails: a status that an older or foreign writer left is read as far as it can be.
ProviderStatus ParseStatus(const Json& status) {
  ProviderStatus out;
  out.contract = GetString(status, {"contract"});
  out.installed_version = GetString(status, {"installedVersion"});
  out.desired_version = GetString(status, {"desiredVersion"});
  out.desired_contract = GetString(status, {"desiredContract"});
  out.observed_generation = GetInt(status, {"observedGeneration"});
  if (const Json* conditions = Find(status, {"conditions"})) out.conditions = kube::ConditionsFromJson(*conditions);
  if (const Json* inventory = Find(status, {"inventory"})) out.inventory = *inventory;
  out.applied = GetString(status, {"applied"});
  if (const Json* history = Find(status, {"history"}); history != nullptr && history->is_array()) {
    for (const Json& entry : *history) out.history.push_back(HistoryFromJson(entry));
  }
  out.source = GetString(status, {"source"});
  out.handled_reconcile_at = GetString(status, {"handledReconcileAt"});
  UpdatesFromJson(status, out);
  return out;
}

Json StatusToJson(const ProviderStatus& status) {
  Json out = Json::object();
  PutText(out, "contract", status.contract);
  PutText(out, "installedVersion", status.installed_version);
  PutText(out, "desiredVersion", status.desired_version);
  PutText(out, "desiredContract", status.desired_contract);
  if (status.observed_generation != 0) out["observedGeneration"] = status.observed_generation;
  if (!status.conditions.empty()) out["conditions"] = kube::ConditionsToJson(status.conditions);
  if (!status.inventory.is_null()) out["inventory"] = status.inventory.Unpack();
  PutText(out, "applied", status.applied);
  for (const HistoryEntry& entry : status.history) {
    Json item = Json::object();
    PutText(item, "version", entry.version);
    PutText(item, "contract", entry.contract);
    PutText(item, "digest", entry.digest);
    PutText(item, "time", entry.time);
    PutText(item, "outcome", entry.outcome);
    PutText(item, "started", entry.started);
    PutText(item, "inputs", entry.inputs);
    PutText(item, "message", entry.message);
    PutText(item, "insteadOf", entry.instead_of);
    out["history"].push_back(std::move(item));
  }
  PutText(out, "source", status.source);
  PutText(out, "handledReconcileAt", status.handled_reconcile_at);
  UpdatesToJson(status, out);
  return out;
}

}  // namespace capi::api
