// Which view is shown, and when it is drawn again.

import { h, show } from "./dom";
import { Feed, askJson, askText, setToken } from "./feed";
import { Details, Fleet } from "./model";
import { fleetStrip, overview } from "./views";
import { providerView } from "./provider";

const byId = (id: string) => document.getElementById(id)!;
const main = byId("main"), strip = byId("fleet"), nav = byId("nav"), state = byId("link"), said = byId("said");
const filter = byId("filter") as HTMLInputElement;

const OFTEN = 150; // ms between two drawings, more where one takes long
let took = 0; // ms, the last one
let due = 0;
let loaded = false;
let details: Details | null = null;
let yaml: string | null = null; // of the same provider, where somebody wants to see it
let fetching = 0; // the number of the last request for details
const before = new Map<string, string>(); // states, as they were told last

function route(): { view: string; id: string } {
  const path = location.hash.replace(/^#\/?/, ""); // what the page links to has no escapes
  if (path.startsWith("provider/")) return { view: "provider", id: path.slice("provider/".length) };
  return { view: path === "table" ? "table" : "graph", id: "" };
}

function draw(): void {
  clearTimeout(due);
  due = 0;
  if (!loaded || !feed.fleet) return;
  const began = performance.now();
  drawAll(feed.fleet);
  took = performance.now() - began;
}

function drawAll(fleet: Fleet): void {
  const now = Date.now(), { view, id } = route();
  const tab = (to: string, name: string) => h("a", { href: "#/" + to, "data-key": "nav " + name, "aria-current": (to || "graph") === view ? "page" : undefined }, name);
  show(nav, tab("", "Graph"), tab("table", "Table"));
  show(strip, ...fleetStrip(fleet, [...feed.providers.values()], now));
  document.title = view === "provider" ? `${id.split("/")[2] ?? id} - Providers` : "Providers";
  if (view !== "provider") show(main, ...overview(feed.providers, filter.value, view, now));
  else if (details?.id === id) drawDetails(details);
  else if (!feed.providers.has(id)) show(main, h("p", {}, "There is no such provider, or you may not get it. "), h("a", { href: "#/" }, "All providers"));
  else show(main, h("p", {}, "Asking the operator ...")); // and not another provider's view, whose buttons would be pressed
}

function drawDetails(of: Details): void {
  show(main, ...providerView(of, feed.providers, Date.now(), yaml, () => void fetchYaml(of.id)));
}

async function fetchYaml(id: string): Promise<void> {
  const text = await askText("provider.yaml?id=" + id).catch((error: Error) => error.message);
  if (route().id !== id) return;
  yaml = text;
  drawSoon();
}

function drawSoon(): void {
  if (due === 0) due = setTimeout(draw, Math.max(OFTEN, 2 * took)) as unknown as number;
}

async function fetchDetails(): Promise<void> {
  const { view, id } = route();
  const mine = ++fetching;
  if (view !== "provider" || !feed.providers.has(id)) return drawSoon();
  try {
    const got = await askJson<Details>("provider.json?id=" + id);
    if (mine === fetching) details = got;
  } catch {
    if (mine === fetching) details = null; // the feed tells why
  }
  if (mine === fetching && yaml !== null) await fetchYaml(id);
  drawSoon();
}

// Who doesn't see the page hears what became of which provider.
function tell(id: string): void {
  const one = feed.providers.get(id);
  if (!one) {
    if (before.delete(id)) said.textContent = `${id} is gone`;
    return;
  }
  const was = before.get(one.id);
  before.set(one.id, one.state);
  if (was !== undefined && was !== one.state) said.textContent = `${one.kind} ${one.name} is ${one.state}`;
}

function askForToken(words: string): void {
  loaded = false;
  const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const form = h("form", { class: "token" },
    h("h2", {}, "Who are you?"), h("p", {}, words),
    h("p", {}, "A token is one that the cluster knows, as ", h("code", {}, "kubectl create token NAME --namespace NAMESPACE"), " prints it. It stays in this page's memory."),
    h("label", { for: "token" }, "Token"), " ", input, " ", h("button", { type: "submit" }, "Look"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(main, h("p", {}, "Asking the operator ..."));
    begin(input.value.trim());
  });
  show(strip);
  show(main, form);
  input.focus();
}

const feed = new Feed({
  changed(id) {
    loaded = true;
    if (id === null) for (const one of new Set([...before.keys(), ...feed.providers.keys()])) tell(one);
    else tell(id);
    const at = route();
    if (at.view === "provider" && (id === null || id === at.id)) void fetchDetails();
    else drawSoon();
  },
  linked(live, words) {
    state.textContent = words;
    state.className = live ? "live" : "lost";
  },
  needsToken: askForToken,
});

function begin(token: string): void {
  setToken(token);
  state.textContent = "Connecting ...";
  void feed.run();
}

filter.addEventListener("input", drawSoon);
byId("search").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {
  details = yaml = null;
  draw();
  scrollTo(0, 0);
  void fetchDetails().then(() => main.focus({ preventScroll: true }));
});
setInterval(drawSoon, 60_000); // the ages

begin("");
