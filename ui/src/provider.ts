// The view of one provider.

import { Child, h, table } from "./dom";
import { Details, InventoryObject, Provider, nameOf } from "./model";
import { badge, link, since } from "./views";

const STAGES = ["Checks", "Applying", "Rolling out", "Done"];

// How far the last change of what is applied has come, by its outcome and the conditions.
export function stageOf(one: Details): { at: number; words: string } | null {
  const checked = one.conditions.find((c) => c.type === "PreflightCheckPassed")?.status;
  if (checked === "False") return { at: 0, words: "The checks don't let it go on." };
  switch (one.outcome) {
    case "Applying": return { at: 1, words: `Objects of ${one.history[0]!.version} are being applied.` };
    case "RollingOut": return { at: 2, words: `All of ${one.history[0]!.version} is applied; its workloads are not all healthy yet.` };
    case "Failed": return { at: 2, words: "The workloads did not become healthy in time." };
    case "RollingBack": return { at: 1, words: "The new version failed: the last good one is being applied again." };
    case "RolledBack": return { at: 3, words: "The new version failed, and the last good one runs again." };
    case "Succeeded": case "": return one.installedVersion ? { at: 3, words: `${one.installedVersion} is installed.` } : null;
    default: return null;
  }
}

function stages(one: Details): Child {
  const stage = stageOf(one);
  if (!stage) return null;
  const items = STAGES.map((name, i) => h("li", { class: i < stage.at ? "past" : i === stage.at ? "now" : undefined, "aria-current": i === stage.at ? "step" : undefined }, name));
  return h("section", { "aria-labelledby": "stages" }, h("h2", { id: "stages" }, "The last change"), h("ol", { class: "stages" }, ...items), h("p", {}, stage.words));
}

function facts(...pairs: [string, Child][]): HTMLElement {
  return h("dl", { class: "facts" }, ...pairs.filter(([, value]) => value !== "" && value !== null && value !== false)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function why(one: Details, root: Provider | undefined): Child {
  const also = one.why.also.map((a) => h("li", {}, h("b", {}, `${a.type} (${a.reason}): `), a.message));
  return h("section", { class: one.why.ready ? "why" : "why held", "aria-labelledby": "why" },
    h("h2", { id: "why" }, one.why.ready ? "Nothing holds it back" : "What holds it back"),
    !one.why.ready && facts(["Reason", one.why.reason], ["Meaning", one.why.meaning], ["Message", one.why.message], ["Do", one.why.action], ["See", one.why.see]),
    root && h("p", { class: "root" }, "The cause is at ", link(root, "root"), `: ${root.why.message} `, root.why.action && h("b", {}, "Do: "), root.why.action),
    also.length > 0 && h("ul", {}, ...also));
}

function neighbours(one: Details, providers: Map<string, Provider>): Child {
  const waits = one.waitsFor.map((id) => providers.get(id)).filter((other) => other !== undefined);
  const held = [...providers.values()].filter((other) => other.waitsFor.includes(one.id));
  const list = (all: Provider[], where: string) => all.flatMap((other, i): Child[] => [i > 0 && ", ", link(other, where)]);
  return facts(
    ["Waits for", waits.length + one.needs.length > 0 && h("span", {}, ...list(waits, "waits"), waits.length > 0 && one.needs.length > 0 && ", ", one.needs.map(nameOf).join(", "))],
    ["Holds back", held.length > 0 && h("span", {}, ...list(held, "holds"))]);
}

const NEEDS: Record<string, string> = {
  Pause: "another contract: every provider is paused first",
  CoreUpgrade: "the core provider is upgraded first",
  NearerVersion: "too far: a nearer version comes first",
};

function versions(one: Details): Child {
  const rows = one.upgrades.map((u): Child[] => [u.version, u.contract, u.refused || (NEEDS[u.needs] ?? u.needs) || "nothing"]);
  return h("section", { "aria-labelledby": "versions" }, h("h2", { id: "versions" }, "Versions"),
    facts(["Installed", one.installedVersion || "none"], ["Wanted", one.version !== one.installedVersion && one.version],
      ["Declared", one.declaredVersion !== one.version && one.declaredVersion], ["Contract", one.contract], ["Contract to come", one.desiredContract],
      ["Source", one.source], ["Releases in the cluster", one.releases.join(", ")]),
    rows.length > 0 && table("Newer versions", ["Version", "Contract", "What it needs first"], rows));
}

function conditions(one: Details, now: number): Child {
  const rows = one.conditions.map((c): Child[] => [c.type, c.status, c.reason, c.message, h("time", { datetime: c.lastTransitionTime }, since(c.lastTransitionTime, now))]);
  const changes = [
    ...one.transitions.map((t) => ({ time: t.time, what: t.status ? `${t.type} is ${t.status}: ${t.reason}` : `${t.type} is gone`, message: t.message })),
    ...one.history.map((e) => ({ time: e.time || e.started, what: `${e.version} ${e.outcome || "Succeeded"}`, message: e.message || (e.insteadOf && `by spec.upgradePolicy; spec.version was ${e.insteadOf}`) })),
  ].sort((a, b) => (a.time < b.time ? 1 : -1));
  return h("section", { "aria-labelledby": "conditions" }, h("h2", { id: "conditions" }, "Conditions"),
    table("Conditions now", ["Type", "Status", "Reason", "Message", "Since"], rows),
    h("h3", {}, "What happened"),
    changes.length === 0 ? h("p", {}, "Nothing since this operator started.")
      : h("ol", { class: "events" }, ...changes.map((c) => h("li", {}, h("time", { datetime: c.time }, c.time.replace("T", " ").replace("Z", " UTC")), " ", h("b", {}, c.what), c.message && ` ${c.message}`))));
}

function inventoryTree(one: Details): Child {
  const { objects, error } = one.inventory;
  if (!objects) return h("p", { class: "alarming" }, `The inventory can't be read: ${error}`);
  if (objects.length === 0) return h("p", {}, "It has no objects.");
  const health = new Map(one.workloads.map((w) => [nameOf(w), w]));
  const kinds = new Map<string, InventoryObject[]>();
  for (const object of objects) kinds.set(object.kind, [...(kinds.get(object.kind) ?? []), object]);
  const trees = [...kinds].map(([kind, all]) => {
    const odd = all.filter((o) => o.state !== "applied" || health.get(nameOf(o))?.healthy === false).length;
    const items = all.map((o) => {
      const workload = health.get(nameOf(o));
      const words = [o.state !== "applied" && o.state, o.by && `by ${o.by}`, workload && (workload.healthy ? `${workload.available} of ${workload.replicas} available` : workload.message)].filter(Boolean).join(", ");
      return h("li", { class: o.state === "applied" && workload?.healthy !== false ? undefined : `odd ${o.state}` }, o.namespace ? `${o.namespace}/${o.name}` : o.name, words && h("span", { class: "words" }, ` ${words}`));
    });
    return h("details", { "data-key": `kind ${kind}`, open: odd > 0, "data-opens": odd > 0 }, h("summary", {}, `${kind} (${all.length})`, odd > 0 && h("span", { class: "words" }, ` ${odd} not as applied, or not healthy`)), h("ul", {}, ...items));
  });
  return h("div", { class: "tree" }, ...trees);
}

export function providerView(one: Details, providers: Map<string, Provider>, now: number, yaml: string | null, showYaml: () => void): Child[] {
  const references = one.references.map((r): Child[] => [r.field, r.kind, `${r.namespace}/${r.name}`]);
  const certificates = one.certificates.map((c): Child[] => [c.certificate, `${c.namespace}/${c.secret}`, h("time", { datetime: c.ends }, c.ends.slice(0, 10))]);
  return [
    h("p", {}, h("a", { href: "#/", "data-key": "back" }, "All providers")),
    h("h2", { class: "title" }, `${one.kind} ${one.namespace}/`, h("strong", {}, one.name), " ", badge(one.state)),
    one.specError && h("p", { class: "alarming" }, one.specError),
    why(one, providers.get(one.root)),
    neighbours(one, providers),
    one.users.length > 0 && facts(["Used by", one.users.join(", ")]),
    stages(one),
    versions(one),
    h("section", { "aria-labelledby": "inventory" }, h("h2", { id: "inventory" }, "Inventory"),
      !one.seen && h("p", { class: "note" }, "This replica of the operator hasn't looked at the objects."),
      one.fights.length > 0 && h("ul", { class: "alarming" }, ...one.fights.map((f) => h("li", {}, f))), inventoryTree(one)),
    conditions(one, now),
    references.length > 0 && h("section", { "aria-labelledby": "refs" }, h("h2", { id: "refs" }, "What it refers to"), table("References, by name", ["Field", "Kind", "Object"], references)),
    certificates.length > 0 && h("section", { "aria-labelledby": "certs" }, h("h2", { id: "certs" }, "Certificates"), table("Kept by the operator", ["Certificate", "Secret", "Expires"], certificates)),
    h("section", { class: "yaml", "aria-labelledby": "yaml" }, h("h2", { id: "yaml" }, "The object"), h("button", { type: "button", "data-key": "yaml", click: showYaml }, "Show its YAML"), yaml !== null && h("pre", { id: "text", tabindex: 0, "data-key": "text" }, yaml)),
  ];
}
