// Keeps what the operator says up to date: all of it once, then what is new, and all of it again after a break.

import { Fleet, Provider, Snapshot } from "./model";

export class NeedsToken extends Error {}
export class Refused extends Error {}

let token = "";
export function setToken(value: string): void {
  token = value;
}

async function ask(path: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = token ? { Authorization: "Bearer " + token } : {};
  const response = await fetch(path, { headers, signal: signal ?? null, cache: "no-store", credentials: "omit" });
  if (response.ok) return response;
  const text = (await response.text()).trim();
  if (response.status === 401 || response.status === 403) throw new NeedsToken(text);
  throw new Refused(text || `the operator answered ${response.status}`);
}

export async function askJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, signal)).json() as Promise<T>;
}
export async function askText(path: string): Promise<string> {
  return (await ask(path)).text();
}

export interface Listener {
  changed(id: string | null): void; // null: anything
  linked(live: boolean, words: string): void;
  needsToken(words: string): void;
}

const SILENCE = 25_000; // the operator says something every ten seconds
const PATIENCE = 1000; // ms at least between two fetches of everything
const FIRST_WAIT = 500; // ms before the first try after a break

// A browser has six connections to a server, for all of its tabs: one that nobody sees follows nothing.
function seen(): Promise<void> {
  return new Promise((done) => {
    if (!document.hidden) return done();
    document.addEventListener("visibilitychange", () => done(), { once: true });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

export class Feed {
  providers = new Map<string, Provider>();
  fleet: Fleet | null = null;
  private revision = -1;
  private early: [string, string][] | null = null; // events that came before the data
  private ended = new AbortController(); // of the stream that is followed
  private fetches = 0;
  private fetched = 0; // when everything was asked for last

  constructor(private readonly listener: Listener) {}

  // For ever, or until it needs a token.
  async run(): Promise<void> {
    let wait = FIRST_WAIT;
    for (;;) {
      await seen();
      const began = Date.now();
      let words = "Connecting again ...";
      try {
        await this.follow();
      } catch (error) {
        if (error instanceof NeedsToken) return this.listener.needsToken(error.message);
        if (!document.hidden) words = error instanceof Refused ? error.message : "The operator can't be reached. Trying again ...";
      }
      this.listener.linked(false, words);
      if (document.hidden) continue;
      if (Date.now() - began > 20_000) wait = FIRST_WAIT;
      await pause(wait * (0.5 + Math.random() / 2));
      wait = Math.min(wait * 2, 10_000);
    }
  }

  private async follow(): Promise<void> {
    const ended = (this.ended = new AbortController());
    let silent = 0;
    const heard = () => {
      clearTimeout(silent);
      silent = setTimeout(() => ended.abort(), SILENCE) as unknown as number;
    };
    heard();
    const hide = () => document.hidden && ended.abort();
    document.addEventListener("visibilitychange", hide);
    try {
      const response = await ask("events", ended.signal);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        const events = (rest + value).split("\n\n");
        rest = events.pop()!;
        for (const event of events) this.take(event);
      }
    } finally {
      clearTimeout(silent);
      document.removeEventListener("visibilitychange", hide);
      ended.abort();
    }
  }

  private take(text: string): void {
    let name = "", data = "";
    for (const line of text.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      if (line.startsWith("data: ")) data = line.slice(6);
    }
    if (name === "hello" || name === "again") void this.fetchAll();
    else if (this.early) this.early.push([name, data]);
    else this.apply(name, data);
  }

  // One that begins later has what came before it: an earlier one that isn't through counts no more.
  private async fetchAll(): Promise<void> {
    const mine = ++this.fetches, ended = this.ended;
    this.early = [];
    try {
      const soon = this.fetched + PATIENCE * (1 + Math.random()) - Date.now();
      if (soon > 0) await pause(soon);
      if (mine !== this.fetches || ended.signal.aborted) return;
      this.fetched = Date.now();
      const all = await askJson<Snapshot>("data.json", ended.signal);
      if (mine !== this.fetches) return;
      this.providers = new Map(all.providers.map((one) => [one.id, one]));
      this.fleet = all.fleet;
      this.revision = all.revision;
      const early = this.early;
      this.early = null;
      for (const [name, data] of early) this.apply(name, data);
      this.listener.linked(true, "Live");
      this.listener.changed(null);
    } catch {
      ended.abort(); // run() begins anew, and tells why
    }
  }

  private apply(name: string, data: string): void {
    if (name === "") return;
    const event = JSON.parse(data) as { revision: number; provider: Provider; id: string } & Fleet;
    if (name === "fleet") {
      this.fleet = event;
      return this.listener.changed(null);
    }
    if (event.revision <= this.revision) return;
    this.revision = event.revision;
    if (name === "provider") this.providers.set(event.provider.id, event.provider);
    if (name === "gone") this.providers.delete(event.id);
    this.listener.changed(name === "gone" ? event.id : event.provider.id);
  }
}
