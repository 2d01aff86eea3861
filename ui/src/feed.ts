// Keeps what the operator says up to date: all of it once, then what is new, and all of it again after a break.

import { Fleet, Provider, Snapshot } from "./model";

export class NeedsToken extends Error {}
export class Refused extends Error {
  constructor(words: string, readonly status: number) {
    super(words);
  }
}

// What a person is told of it: a sentence.
export function wordsOf(error: unknown): string {
  return error instanceof NeedsToken || error instanceof Refused ? error.message.replace(/\.?$/, ".") : "The operator can't be reached.";
}

let token = "";
export function setToken(value: string): void {
  token = value;
}
export function hasToken(): boolean {
  return token !== "";
}

const LONGEST = 30_000; // ms for an answer that has an end

async function ask(path: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = token ? { Authorization: "Bearer " + token } : {};
  const response = await fetch(path, { headers, signal, cache: "no-store", credentials: "omit" });
  if (response.ok) return response;
  const text = (await response.text()).trim();
  if (response.status === 401 || response.status === 403) throw new NeedsToken(text);
  throw new Refused(text || `the operator answered ${response.status}`, response.status);
}

async function askWhole(path: string, signal: AbortSignal): Promise<Response> {
  return ask(path, AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]));
}
export async function askJson<T>(path: string, signal: AbortSignal): Promise<T> {
  return (await askWhole(path, signal)).json() as Promise<T>;
}
export async function askText(path: string, signal: AbortSignal): Promise<string> {
  return (await askWhole(path, signal)).text();
}

export interface Listener {
  changed(id: string | null): void; // null: anything
  linked(live: boolean, words: string, heard: number): void; // when the operator was heard last, in ms; 0: never
  isAnother(): void; // the operator has another version than the one that this page is of
  needsToken(words: string): void;
}

const SILENCE = 25_000; // the operator says something every ten seconds
const PATIENCE = 1000; // ms at least between two fetches of everything
const FIRST_WAIT = 500; // ms before the first try after a break
const STEADY = 20_000; // ms of a stream that wasn't broken off at once

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
  private heard = 0; // when the operator was heard last
  private live = false; // what is followed now has its data
  private version = ""; // of the operator that this page is of

  constructor(private readonly listener: Listener) {}

  // For ever, or until it needs a token.
  async run(): Promise<void> {
    let wait = FIRST_WAIT;
    for (;;) {
      await seen();
      const began = Date.now();
      let words = "Connecting again ...";
      this.live = false;
      try {
        await this.follow();
        // The operator ends each stream after a while, and whoever comes again at once has missed nothing.
        if (this.live && Date.now() - began > STEADY) continue;
      } catch (error) {
        const why = [this.ended.signal.reason, error].find((one) => one instanceof NeedsToken || one instanceof Refused) ?? error;
        if (why instanceof NeedsToken) return this.listener.needsToken(why.message);
        if (!document.hidden) words = `${wordsOf(why)} Trying again ...`;
      }
      this.listener.linked(false, words, this.heard);
      if (document.hidden) continue;
      if (Date.now() - began > STEADY) wait = FIRST_WAIT;
      await pause(wait * (0.5 + Math.random() / 2));
      wait = Math.min(wait * 2, 10_000);
    }
  }

  // Something else that was asked for failed: whoever begins anew finds out why, and has everything again.
  followAnew(why: unknown): void {
    this.ended.abort(why);
  }

  // What one holder of a token has seen isn't for the next.
  forget(): void {
    this.providers = new Map();
    this.fleet = null;
    this.heard = 0;
  }

  private async follow(): Promise<void> {
    const ended = (this.ended = new AbortController());
    let silent = 0;
    const heard = () => {
      this.heard = Date.now();
      clearTimeout(silent);
      silent = setTimeout(() => ended.abort(), SILENCE) as unknown as number;
    };
    silent = setTimeout(() => ended.abort(), SILENCE) as unknown as number;
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
      this.compare();
      const early = this.early;
      this.early = null;
      for (const [name, data] of early) this.apply(name, data);
      this.live = true;
      this.listener.linked(true, "Live", this.heard);
      this.listener.changed(null);
    } catch (error) {
      ended.abort(error); // run() begins anew, and tells why
    }
  }

  private compare(): void {
    this.version ||= this.fleet!.version;
    if (this.fleet!.version !== this.version) this.listener.isAnother();
  }

  // Of what it doesn't know, as a newer operator may say it, it takes nothing.
  private apply(name: string, data: string): void {
    if (!["fleet", "provider", "gone", "touched"].includes(name)) return;
    const event = JSON.parse(data) as { revision: number; provider: Provider; id: string } & Fleet;
    if (name === "fleet") {
      this.fleet = event;
      this.compare();
      return this.listener.changed(null);
    }
    if (name === "touched") return this.listener.changed(event.id); // its details alone
    if (event.revision <= this.revision) return;
    this.revision = event.revision;
    if (name === "provider") this.providers.set(event.provider.id, event.provider);
    if (name === "gone") this.providers.delete(event.id);
    this.listener.changed(name === "gone" ? event.id : event.provider.id);
  }
}
