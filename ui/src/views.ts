// The views of many providers: the strip, what is held back, the graph and the table.

import { Child, h, table } from "./dom";
import { drawGraph, hrefOf } from "./graph";
import { Fleet, Provider, STATES, causesOf, matches, nameOf, sorted } from "./model";

const MOST_ROWS = 300; // a thousand take a slow machine a second
const DAY = 24 * 3600 * 1000;

export function link(one: Provider, where: string): HTMLElement {
  return h("a", { href: hrefOf(one.id), "data-key": `${where} ${one.id}` }, nameOf(one));
}

export function badge(state: string): HTMLElement {
  return h("span", { class: `state ${state}` }, state);
}

export function since(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (!Number.isFinite(minutes)) return "";
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}

function counted(values: string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([value, count]) => `${value} × ${count}`).join(", ");
}

function figure(name: string, value: Child, alarming = false): HTMLElement {
  return h("div", { class: alarming ? "alarming" : undefined }, h("dt", {}, name), h("dd", {}, value));
}

export function fleetStrip(fleet: Fleet, all: Provider[], now: number): Child[] {
  const states = STATES.map(([state, meaning]) => {
    const count = all.filter((one) => one.state === state).length;
    return count > 0 && h("li", { title: meaning }, badge(state), ` ${count}`);
  });
  const core = all.filter((one) => one.kind === "CoreProvider");
  const ends = all.map((one) => one.certificateEnds).filter(Boolean).sort()[0];
  const left = ends ? Math.floor((Date.parse(ends) - now) / DAY) : 0;
  const upgrades = all.filter((one) => one.upgrades.length > 0).length;
  return [
    h("ul", { class: "states", "aria-label": "Providers by state" }, ...states),
    h("dl", {},
      figure("Core", core.map((one) => `${one.installedVersion || "not installed"} ${one.contract}`).join(", ") || "none"),
      figure("Contracts", counted(all.map((one) => one.contract)) || "none"),
      figure("With a newer version", String(upgrades)),
      ends ? figure("First certificate expires", `${ends.slice(0, 10)} (${left} days)`, left < 14) : null,
      figure("Drift corrected in the last hour", String(fleet.restoredInTheLastHour), fleet.restoredInTheLastHour > 0),
      figure("Operator", fleet.version)),
    !fleet.leads && h("p", { class: "note" }, "This replica of the operator doesn't lead: it knows the providers' status, and not the health of their workloads. Another replica does."),
  ];
}

function heldBack(providers: Map<string, Provider>, chosen: Provider[]): Child {
  const causes = causesOf(providers).filter((cause) => cause.held.some((one) => chosen.includes(one)));
  if (causes.length === 0) return h("p", { class: "calm" }, chosen.length === 0 ? "No provider is found." : chosen.length < providers.size ? "None of these is held back." : "Nothing is held back.");
  const items = causes.slice(0, 20).map((cause) => {
    const itself = cause.of.needs.length === 0; // the cause is a provider, and not a thing that it needs
    const held = cause.held.filter((one) => !itself || one !== cause.of);
    return h("li", {},
      h("p", {}, badge(cause.of.state), " ", itself ? link(cause.of, "cause") : h("strong", {}, cause.title),
        held.length > 0 && ` holds back ${held.length === 1 ? "one provider" : `${held.length} providers`}: `,
        ...held.slice(0, 8).flatMap((one, i) => [i > 0 && ", ", link(one, "held")]), held.length > 8 && ` and ${held.length - 8} more`),
      h("p", { class: "message" }, h("b", {}, cause.of.why.reason), " ", cause.of.why.message),
      cause.of.why.action && h("p", {}, h("b", {}, "Do: "), cause.of.why.action));
  });
  return h("section", { "aria-labelledby": "held" }, h("h2", { id: "held" }, "What is held back"), h("ol", { class: "causes" }, ...items),
    causes.length > 20 && h("p", {}, `And ${causes.length - 20} more causes: see the table.`));
}

function workloadsOf(one: Provider): Child {
  if (!one.seen) return "not known here";
  if (one.workloads.length === 0) return "none";
  const ill = one.workloads.filter((w) => !w.healthy);
  if (ill.length === 0) return `${one.workloads.length} healthy`;
  return `${ill.length} of ${one.workloads.length} not healthy: ${ill[0]!.name}: ${ill[0]!.message}`;
}

function tableOf(providers: Map<string, Provider>, chosen: Provider[], now: number): Child[] {
  const blocks = new Map<string, Provider[]>();
  for (const one of providers.values()) for (const id of one.waitsFor) blocks.set(id, [...(blocks.get(id) ?? []), one]);
  const rows = sorted(chosen).slice(0, MOST_ROWS).map((one): Child[] => [
    link(one, "table"),
    h("span", {}, badge(one.state), one.why.since && ` ${since(one.why.since, now)}`),
    `${one.installedVersion || "none"}${one.version && one.version !== one.installedVersion ? ` → ${one.version}` : ""}`,
    one.contract,
    one.why.ready ? "" : h("span", {}, h("b", {}, one.why.reason), " ", one.why.message),
    [...one.waitsFor, ...one.needs.map(nameOf)].join(", "),
    (blocks.get(one.id) ?? []).slice(0, 5).map((other) => other.name).join(", "),
    workloadsOf(one),
  ]);
  return [
    table("Providers", ["Provider", "State", "Version", "Contract", "Why", "Waits for", "Holds back", "Workloads"], rows),
    chosen.length > MOST_ROWS && h("p", {}, `The first ${MOST_ROWS} of ${chosen.length}: find others by name.`),
  ];
}

export function overview(providers: Map<string, Provider>, words: string, view: string, now: number): Child[] {
  const chosen = words.trim() ? [...providers.values()].filter((one) => matches(one, words.trim())) : [...providers.values()];
  const out: Child[] = [heldBack(providers, chosen)];
  if (view !== "table" && chosen.length > 0) {
    const { picture, left } = drawGraph(providers, chosen);
    out.push(h("section", { "aria-labelledby": "graph" }, h("h2", { id: "graph" }, "Who waits for whom"),
      h("div", { class: "graph", tabindex: 0, "data-key": "graph", role: "region", "aria-label": "Graph" }, picture),
      left > 0 && h("p", {}, `${left} more are in the table: find some by name.`)));
  }
  out.push(h("section", { "aria-labelledby": "all" }, h("h2", { id: "all" }, "All providers"), ...tableOf(providers, chosen, now)));
  return out;
}
