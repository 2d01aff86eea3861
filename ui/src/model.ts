// What the operator says: docs/status-page.md, "What it is made of".

export interface Why {
  ready: boolean;
  reason: string;
  since: string;
  message: string;
  meaning: string;
  action: string;
  see: string; // where the book tells more
  also: { type: string; reason: string; message: string }[];
}
export interface Named {
  kind: string;
  namespace: string;
  name: string;
}
export interface Workload extends Named {
  group: string;
  healthy: boolean;
  message: string;
  replicas: number;
  available: number;
}
export interface Upgrade {
  version: string;
  contract: string;
  needs: string;
  refused: string;
}
export type State = "ready" | "paused" | "working" | "waiting" | "stalled" | "deleting" | "unseen";
export interface Provider extends Named {
  id: string;
  state: State;
  installedVersion: string;
  version: string;
  declaredVersion: string;
  contract: string;
  desiredContract: string;
  outcome: string;
  why: Why;
  waitsFor: string[];
  needs: Named[];
  root: string;
  upgrades: Upgrade[];
  seen: boolean;
  workloads: Workload[];
  drifted: number;
  certificateEnds: string;
}
export interface InventoryObject extends Named {
  group: string;
  version: string;
  state: string;
  by?: string;
}
export interface Details extends Provider {
  created: string;
  source: string;
  conditions: { type: string; status: string; reason: string; message: string; lastTransitionTime: string }[];
  transitions: { time: string; type: string; status: string; reason: string; message: string }[];
  history: { version: string; contract: string; outcome: string; started: string; time: string; message: string; insteadOf: string }[];
  inventory: { objects?: InventoryObject[]; error?: string };
  references: (Named & { field: string })[];
  certificates: { namespace: string; secret: string; certificate: string; ends: string }[];
  fights: string[];
  releases: string[];
  users: string[];
  specError?: string;
}
export interface Fleet {
  version: string;
  leads: boolean;
  restoredInTheLastHour: number;
}
export interface Snapshot {
  revision: number;
  fleet: Fleet;
  providers: Provider[];
}

// The states in the order in which somebody looks for them, with what they mean.
export const STATES: [State, string][] = [
  ["stalled", "Only a change of its object, of what it names, or of the release lets it go on."],
  ["waiting", "It waits for another provider, or for something that isn't there."],
  ["working", "The operator is at work on it."],
  ["deleting", "It is being removed."],
  ["unseen", "The operator hasn't looked at it, or at its last change."],
  ["paused", "Its workloads are at zero replicas, or the operator keeps its hands off it."],
  ["ready", "It is installed as declared, and every workload is healthy."],
];

export function sorted(providers: Iterable<Provider>): Provider[] {
  const rank = new Map(STATES.map(([state], i) => [state, i]));
  return [...providers].sort((a, b) => (rank.get(a.state)! - rank.get(b.state)!) || (a.id < b.id ? -1 : 1));
}

export function matches(provider: Provider, words: string): boolean {
  const text = [provider.id, provider.state, provider.installedVersion, provider.contract, provider.why.reason, provider.why.message]
    .join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export function nameOf(one: Named): string {
  return one.namespace ? `${one.kind} ${one.namespace}/${one.name}` : `${one.kind} ${one.name}`;
}

// One cause, and whom it holds back.
export interface Cause {
  key: string;
  title: string;
  of: Provider; // who says it in words
  held: Provider[];
}

export function causesOf(providers: Map<string, Provider>): Cause[] {
  const causes = new Map<string, Cause>();
  for (const provider of sorted(providers.values())) {
    if (provider.state === "ready" || provider.state === "paused") continue;
    const of = providers.get(provider.root) ?? provider;
    const needs = of.needs.map(nameOf).join(", ");
    const key = needs || of.id;
    const cause = causes.get(key) ?? { key, title: needs || nameOf(of), of, held: [] };
    cause.held.push(provider);
    causes.set(key, cause);
  }
  return [...causes.values()].sort((a, b) => b.held.length - a.held.length);
}
