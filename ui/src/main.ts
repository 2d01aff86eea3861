// Which view is shown, and when it is drawn again.

import { h, show } from "./dom";
import { Feed, Refused, askJson, askText, hasToken, setToken, wordsOf } from "./feed";
import { Details, Fleet } from "./model";
import { fleetStrip, overview } from "./views";
import { providerView } from "./provider";

const byId = (id: string) => document.getElementById(id)!;
const main = byId("main"), strip = byId("fleet"), nav = byId("nav"), state = byId("link"), said = byId("said");
const filter = byId("filter") as HTMLInputElement;

const OFTEN = 150; // ms between two drawings, more where one takes long
let due = 0;
let loaded = false;
let details: Details | null = null;
let yaml: string | null = null; // of the same provider
let wantsYaml = false;
let trouble = ""; // why there are no newer details
let asking: AbortController | null = null; // of the request for details that runs
let asksAgain = false; // something has changed since it began
let another = false; // the operator has another version than this page
let took = 0; // ms of the last drawing
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
  else show(main, trouble ? h("p", { class: "alarming" }, trouble) : h("p", {}, "Asking the operator ...")); // and not another provider's view, whose buttons would be pressed
}

function drawDetails(of: Details): void {
  const old = feed.providers.has(of.id) ? trouble : "It is gone, or you may not get it any more.";
  show(main, old && h("p", { class: "alarming" }, `${old} What you see is what it was.`),
    ...providerView(of, feed.providers, Date.now(), yaml, () => {
      wantsYaml = true;
      void fetchDetails();
    }));
}

// Who has much to draw has time for something else, too.
function drawSoon(): void {
  if (due === 0) due = setTimeout(draw, Math.max(OFTEN, 3 * took)) as unknown as number;
}

// One request at a time, and another one where something came meanwhile: over a slow link each would be too late else.
async function fetchDetails(): Promise<void> {
  asksAgain = true;
  if (asking) return;
  const mine = (asking = new AbortController());
  while (asksAgain && !mine.signal.aborted) {
    asksAgain = false;
    await fetchOnce(mine.signal);
  }
  if (asking === mine) asking = null;
}

async function fetchOnce(signal: AbortSignal): Promise<void> {
  const { view, id } = route();
  if (view !== "provider" || !feed.providers.has(id)) return drawSoon();
  try {
    const got = await Promise.all([askJson<Details>("provider.json?id=" + id, signal), wantsYaml ? askText("provider.yaml?id=" + id, signal) : null]);
    if (signal.aborted) return;
    [details, yaml] = got;
    trouble = "";
  } catch (error) {
    if (signal.aborted) return;
    trouble = wordsOf(error);
    if (!(error instanceof Refused && error.status === 404)) feed.followAnew(error);
  }
  drawSoon();
}

function forgetDetails(): void {
  asking?.abort();
  asking = details = yaml = null;
  wantsYaml = false;
  trouble = "";
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
  forgetDetails();
  feed.forget();
  before.clear();
  said.textContent = "";
  document.title = "Providers";
  state.textContent = "Not connected";
  state.className = "";
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
  linked(live, words, heard) {
    const all = [words, another && "The operator has another version now: reload this page.",
      !live && loaded && heard > 0 && `What you see is from ${new Date(heard).toLocaleTimeString()}.`].filter(Boolean).join(" ");
    if (state.textContent !== all) state.textContent = all; // what is the same isn't heard again
    state.className = live && !another ? "live" : "lost";
  },
  // Its program is another one, too. A reload would ask for the token again.
  isAnother() {
    another = true;
    if (!hasToken()) location.reload();
  },
  needsToken: askForToken,
});

function begin(token: string): void {
  setToken(token);
  state.textContent = "Connecting ...";
  void feed.run();
}

filter.addEventListener("input", () => {
  if (route().view === "provider") location.hash = "#/"; // where something can be found
  else drawSoon();
});
byId("search").addEventListener("submit", (event) => event.preventDefault());
// The address after the "#" says which view is shown: a link to a part of the page would be one to another view.
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => {
  forgetDetails();
  draw();
  scrollTo(0, 0);
  // At once: when a slow request ends somebody may be typing.
  if (document.activeElement !== filter) main.focus({ preventScroll: true });
  void fetchDetails();
});
setInterval(drawSoon, 60_000); // the ages

begin("");
