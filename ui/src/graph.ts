// The graph: the core, the providers around it by contract, and what each that isn't ready waits for. The table below it
// (views.ts) says the same in words.

import { graphlib, layout } from "@dagrejs/dagre";
import { svg } from "./dom";
import { Provider, State, nameOf, sorted } from "./model";

// More than these, and those that are as they should be share a box.
const MOST_READY = 24;
const MOST = 60; // boxes: to lay out so many takes a fifth of a second, and nobody reads more
const MOST_GROUPS = 12;
const WIDTH = 230, HEIGHT = 74, SMALL = 44;
const LONGEST = 32; // characters of a line

interface Box {
  key: string;
  lines: string[];
  state: State | "thing" | "group";
  words: string; // for who doesn't see it
  href?: string;
  dots?: boolean[]; // of workloads: whether each is healthy
}
interface Arrow {
  from: string;
  to: string;
  waits: boolean;
}

function cut(text: string): string {
  return text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;
}

export function hrefOf(id: string): string {
  return "#/provider/" + id;
}

function boxOf(one: Provider): Box {
  const version = one.installedVersion || "not installed";
  const next = one.version && one.version !== one.installedVersion ? ` → ${one.version}` : "";
  const ill = one.workloads.filter((w) => !w.healthy).length;
  const cause = one.why.ready ? "" : `: ${one.why.reason}`;
  const words = [nameOf(one), one.state + cause, version + next, one.contract && `contract ${one.contract}`,
    one.workloads.length > 0 && `${one.workloads.length - ill} of ${one.workloads.length} workloads healthy`,
    one.drifted > 0 && `${one.drifted} objects drifted`].filter(Boolean).join(", ");
  return {
    key: one.id,
    lines: [one.name, one.kind, `${version}${next} ${one.contract}`, one.state + cause],
    state: one.state,
    words,
    href: hrefOf(one.id),
    dots: one.workloads.map((w) => w.healthy),
  };
}

// Groups of those that are as they should be, the largest first; none while they are few.
function groupsOf(calm: Provider[]): Map<string, Provider[]> {
  const groups = new Map<string, Provider[]>();
  if (calm.length <= MOST_READY) return groups;
  for (const one of calm) {
    const key = `${one.kind}|${one.state}|${one.contract}|${one.installedVersion}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return new Map([...groups].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1)).slice(0, MOST_GROUPS));
}

// The order in which there is a box for them: the core, those for which most wait, and then by state.
function byWeight(chosen: Provider[]): Provider[] {
  const holds = new Map<string, number>();
  for (const one of chosen) for (const id of one.waitsFor) holds.set(id, (holds.get(id) ?? 0) + 1);
  const weight = (one: Provider) => (one.kind === "CoreProvider" ? Infinity : holds.get(one.id) ?? 0);
  return sorted(chosen).map((one) => ({ one, weight: weight(one) }))
    .sort((a, b) => (a.weight === b.weight ? 0 : b.weight - a.weight)).map(({ one }) => one);
}

// What the graph has of so many providers that it can still be read. The order is that of names: who changes its state alone
// moves nothing.
export function boxesOf(providers: Map<string, Provider>, all: Provider[]): { boxes: Box[]; arrows: Arrow[]; core: string | undefined; left: number } {
  const chosen = [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
  const boxes = new Map<string, Box>(), arrows: Arrow[] = [];
  const at = new Map<string, string>(); // provider -> its box
  const calm = chosen.filter((one) => one.kind !== "CoreProvider" && (one.state === "ready" || one.state === "paused"));
  for (const [key, group] of groupsOf(calm)) {
    const { kind, state, contract, installedVersion } = group[0]!;
    const lines = [`${group.length} providers`, kind, `${installedVersion} ${contract}`, state];
    boxes.set(key, { key, lines, state: "group", words: lines.join(", ") });
    for (const one of group) at.set(one.id, key);
  }
  const grouped = new Set(calm.length > MOST_READY ? calm : []);
  for (const one of byWeight(chosen)) {
    if (grouped.has(one)) continue;
    const things = one.needs.filter((need) => !boxes.has(nameOf(need)));
    if (boxes.size + 1 + things.length > MOST) continue;
    boxes.set(one.id, boxOf(one));
    at.set(one.id, one.id);
    for (const need of things) {
      const key = nameOf(need);
      boxes.set(key, { key, lines: [need.name, need.namespace ? `${need.kind} in ${need.namespace}` : need.kind], state: "thing", words: `${key}, which is waited for` });
    }
  }
  const core = chosen.find((one) => one.kind === "CoreProvider" && at.has(one.id));
  const drawn = new Set<string>();
  const draw = (from: string, to: string | undefined, waits: boolean) => {
    if (to === undefined || from === to || drawn.has(from + "\n" + to)) return;
    drawn.add(from + "\n" + to);
    arrows.push({ from, to, waits });
  };
  for (const one of chosen) {
    const from = at.get(one.id);
    if (from === undefined) continue;
    for (const id of one.waitsFor) if (providers.has(id)) draw(from, at.get(id), true);
    for (const need of one.needs) if (at.get(one.id) === one.id) draw(from, nameOf(need), true);
    if (core && one !== core) draw(from, at.get(core.id), false);
  }
  const byKey = [...boxes.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { boxes: byKey, arrows, core: core?.id, left: chosen.length - at.size };
}

interface Point {
  x: number;
  y: number;
}
type Place = Point & { width: number; height: number };
interface Laid {
  width: number;
  height: number;
  places: Map<string, Place>;
  points: Map<Arrow, Point[]>;
}

let last: { of: string; laid: graphlib.Graph } = { of: "", laid: new graphlib.Graph() };

// Boxes are laid out by what they wait for, and only where that is nothing by the core: the layout of a thousand arrows
// that all lead to the core takes seconds, and says nothing. What is waited for stands between the core and who waits. What has
// the same boxes and arrows stays where it was.
function lay(boxes: Box[], arrows: Arrow[], core: string | undefined): Laid {
  const waiting = new Set(arrows.filter((arrow) => arrow.waits).map((arrow) => arrow.from));
  const leading = arrows.filter((arrow) => arrow.waits || !waiting.has(arrow.from));
  if (core !== undefined && !waiting.has(core)) for (const box of boxes) if (box.state === "thing") leading.push({ from: box.key, to: core, waits: false });
  const of = JSON.stringify([boxes.map((box) => box.key), leading.map((arrow) => [arrow.from, arrow.to])]);
  if (of !== last.of) {
    const graph = new graphlib.Graph();
    graph.setGraph({ rankdir: "RL", nodesep: 14, ranksep: 70, marginx: 8, marginy: 8 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const box of boxes) graph.setNode(box.key, { width: WIDTH, height: box.lines.length > 2 ? HEIGHT : SMALL });
    for (const arrow of leading) graph.setEdge(arrow.from, arrow.to);
    layout(graph);
    last = { of, laid: graph };
  }
  const size = last.laid.graph() as { width?: number; height?: number };
  const places = new Map(boxes.map((box) => [box.key, last.laid.node(box.key) as Place]));
  const points = new Map<Arrow, Point[]>();
  for (const arrow of arrows) {
    const way = last.laid.edge(arrow.from, arrow.to) as { points: Point[] } | undefined;
    const from = places.get(arrow.from)!, to = places.get(arrow.to)!;
    points.set(arrow, way?.points ?? [{ x: from.x - from.width / 2, y: from.y }, { x: to.x + to.width / 2, y: to.y }]);
  }
  return { width: Math.ceil(size.width ?? 0), height: Math.ceil(size.height ?? 0), places, points };
}

function drawBox(box: Box, place: Place): SVGElement {
  const parts: SVGElement[] = [svg("rect", { width: place.width, height: place.height, rx: 8 })];
  if (!box.href) parts.unshift(svg("title", {}, box.words));
  box.lines.forEach((line, i) => parts.push(svg("text", { x: 12, y: 19 + i * 16, class: i === 0 ? "name" : "line" }, cut(line))));
  (box.dots ?? []).slice(0, 12).forEach((healthy, i) =>
    parts.push(healthy ? svg("circle", { cx: place.width - 12 - i * 11, cy: 14, r: 4, class: "healthy" })
      : svg("path", { d: `M${place.width - 16 - i * 11} 10l8 8m0 -8l-8 8`, class: "ill" })));
  const shape = svg("g", { class: `box ${box.state}`, transform: `translate(${place.x - place.width / 2} ${place.y - place.height / 2})` }, ...parts.flatMap((part) => [part, " "]));
  if (!box.href) return shape;
  // What is seen comes first, so that who speaks to a computer can say it.
  const heard = `${box.lines.map(cut).join(" ")}: ${box.words}`;
  return svg("a", { href: box.href, "aria-label": heard, "data-key": "graph " + box.key }, shape);
}

function drawArrow(arrow: Arrow, points: Point[]): SVGElement {
  const [first, ...others] = points;
  const path = `M${first!.x} ${first!.y}` + others.map((p) => `L${p.x} ${p.y}`).join("");
  return svg("path", { d: path, class: arrow.waits ? "arrow waits" : "arrow", "marker-end": arrow.waits ? "url(#head)" : undefined });
}

export function drawGraph(providers: Map<string, Provider>, chosen: Provider[]): { picture: SVGSVGElement; left: number } {
  const { boxes, arrows, core, left } = boxesOf(providers, chosen);
  const { width, height, places, points } = lay(boxes, arrows, core);
  const head = svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z" }));
  // Those that say little are under those that say more.
  const lines = [...arrows].sort((a, b) => Number(a.waits) - Number(b.waits)).map((arrow) => drawArrow(arrow, points.get(arrow)!));
  const shapes = boxes.map((box) => drawBox(box, places.get(box.key)!));
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Providers, and what they wait for. The table below says the same." },
    svg("defs", {}, head), ...lines, ...shapes,
  );
  return { picture, left };
}
