/** The service refused: its status, its code ("bad_request", "not_found"...) and its sentence. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string);
}

/** A field's value, as the agent's schema has it. */
export type Field = string | number | boolean | null | Field[] | { [name: string]: Field };
/** An id where items have ids, else an index from 0. */
export type Arm = string | number;

export interface Item {
  id?: string;
  [field: string]: Field | undefined;
}

export interface DecideRequest {
  /** One is made where none is given. */
  event?: string;
  context?: Record<string, Field>;
  /** With their fields, or ids of stored ones; neither items nor where: all stored ones. */
  items?: Item[] | string[];
  /** Stored items with these values: a value, a list of values, or a range. */
  where?: Record<string, string | number | boolean | (string | number | boolean)[] | { min?: number; max?: number }>;
  contexts?: number[][];
  slate?: number;
  exclude?: Arm[];
  /** Rules in words. Places, from "0", and the arm of each. */
  pin?: Record<string, Arm>;
  /** So many arms of each value of a field, { category: 2 }, or of some of them, { category: { shoes: 1 } }. */
  at_most?: Record<string, number | Record<string, number>>;
  at_least?: Record<string, number | Record<string, number>>;
  /** An error, instead of a shorter slate, where rules leave room for fewer arms. */
  exactly?: boolean;
  problem?: Record<string, unknown>;
  /** Who it is for: a visitor stays on one side of the agent's control. */
  user?: string;
  /** The slate that is shown without the agent. */
  baseline?: Arm[];
  /** false: it may not be shown, and is learnt only after `activate`. */
  activate?: boolean;
  explain?: boolean;
  /** With a slate of one arm: all of them in order, each with its probability. */
  ranking?: boolean;
  /** Names of the slate's places, for feedback by place. */
  places?: string[];
  /** The slate to show when the service is away or too busy: a shop never shows an empty page. */
  fallback?: Arm[];
}

export interface Decision {
  /** null: the fallback, of which the service knows nothing. */
  event: string | null;
  slate: Arm[];
  propensity: number | null;
  prefix_propensities: number[] | null;
  position_propensities: number[] | null;
  model: number | null;
  side?: "agent" | "control" | "shadow" | "shown";
  agent_slate?: Arm[];
  agent_propensity?: number | null;
  fallback?: true;
  warnings?: string[];
  ranking?: { id: Arm; probability: number | null }[];
  places?: string[];
  [more: string]: unknown;
}

/** A slate that somebody else chose and showed. */
export interface ShownRequest {
  event?: string;
  context?: Record<string, Field>;
  items?: DecideRequest["items"];
  contexts?: number[][];
  slate: Arm[];
  propensity?: number | null;
  [more: string]: unknown;
}

export interface AgentSettings {
  /** Share of events that get the baseline, or a uniform slate. */
  control?: number;
  mode?: "online" | "shadow" | "apprentice";
  /** What each kind of feedback is worth. */
  rewards?: Record<string, number> | null;
  revise_days?: number;
  slate?: number;
  /** Of arms that get no feedback: 0 where nothing came of them, null where that is not known. A new agent needs it. */
  default_feedback?: number | null;
  wait_seconds?: number;
  aggregate?: "last" | "first" | "sum" | "max";
  retention_days?: number;
  schema?: Record<string, unknown>;
  reset?: boolean;
  [more: string]: unknown;
}

/** A value by item, or a list in the order of the slate, null where it was not seen. */
export type Feedback = Record<string, Value> | Value[] | number;
/** A number; with the agent's rewards, how much of each kind; null: not seen. */
export type Value = number | null | Record<string, number>;

export interface ItemsChange {
  version: number;
  items: number;
  added: number;
  changed: number;
  removed: number;
  same: number;
}

export class Client {
  /** Of a request that got no answer within `timeout` milliseconds, or 429, 502, 503 or 504, at most `retries` more are sent. */
  constructor(url?: string, settings?: { key?: string; timeout?: number; retries?: number });
  decide(agent: string, request: DecideRequest): Promise<Decision>;
  /** `id` tells two pieces of feedback with the same values apart; without it the second is taken for a retry of the first. */
  feedback(agent: string, event: string | null, feedback: Feedback, more?: { id?: string; by?: "item" | "place" }): Promise<void>;
  /** A decision that was held (`activate: false`) was shown after all: its wait begins. */
  activate(agent: string, event: string | null): Promise<void>;
  /** A slate that somebody else chose and showed; it gets feedback, and is learnt like others. */
  shown(agent: string, request: ShownRequest): Promise<Decision>;
  /** Sums by hour, after two weeks by day, from `start` on (seconds since 1970). */
  history(agent: string, start?: number): Promise<Record<string, unknown>[]>;
  putAgent(agent: string, options: Record<string, unknown>, settings?: AgentSettings): Promise<Record<string, unknown>>;
  agents(): Promise<Record<string, unknown>[]>;
  agent(agent: string): Promise<Record<string, unknown>>;
  deleteAgent(agent: string): Promise<void>;
  /** Erases what is kept of an event. */
  erase(agent: string, event: string): Promise<void>;
  /** Stores these items, and no others. */
  putItems(agent: string, items: Iterable<Item & { id: string }>): Promise<ItemsChange>;
  /** Adds items, and changes fields of those that are there: null takes a field away. */
  patchItems(agent: string, items: Iterable<Item & { id: string }>): Promise<ItemsChange>;
  /** Removes a stored item, or all of them. */
  deleteItems(agent: string, item?: string): Promise<ItemsChange>;
  items(agent: string): AsyncGenerator<Item>;
  /** The decision log from journal row `start`; those that still wait, with `final` false, at the end. */
  log(agent: string, start?: number): AsyncGenerator<Record<string, unknown>>;
  /** Are decisions made and kept? */
  ready(): Promise<boolean>;
}
