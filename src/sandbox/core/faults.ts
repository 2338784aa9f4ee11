/**
 * Planned faults: rules for which calls of which provider fail, how, and how often.
 *
 * Owns: the rules and the random draw. Does not own: how a provider words a failure (its dialect), nor how a connection
 * is cut (exchange.ts).
 */
import { z } from "zod";
import { deferred } from "../../db/wait/deferred.ts";

export const providers = ["slack", "linear", "github", "stripe", "postal", "smtp", "oidc"] as const;
export type Provider = (typeof providers)[number];

/** How a call fails. From `error500AfterAccept` on the call takes effect; for `answer` the rule says whether it does. */
export const faultKinds = [
  /** Fails before doing anything. */
  "error500",
  /** Starts, fails, and leaves nothing behind. A provider that remembers keys repeats the failure under the same key. */
  "error500Midway",
  /** Asks the caller to wait (Retry-After); nothing happens. */
  "rateLimit",
  /** Says that another call is changing the same object; nothing happens. A plain failure if the provider has no such error. */
  "locked",
  /** Refuses permanently; nothing happens. */
  "refuse",
  /** Refuses permanently and repeats everything that it was sent, including credentials. */
  "refuseEchoing",
  /** Reads the call and never answers; nothing happens. */
  "hangBeforeAccept",
  /** Closes the connection immediately; nothing happens. */
  "dropBeforeAccept",
  /** Does it, and reports a failure. */
  "error500AfterAccept",
  /** Does it, and never answers. */
  "hang",
  /** Does it, then hangs up without an answer. */
  "dropAfterAccept",
  /** Does it, then hangs up in the middle of the answer. */
  "cutAnswer",
  /** Does it, and answers after `ms`, or when `release` is called. */
  "late",
  /** Does it, and answers with garbage. */
  "garbage",
  /** Answers with `status`, `text` and `location`, as a proxy might; does it first if `accepts`. */
  "answer",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export const faultInput = z.strictObject({
  provider: z.enum(providers),
  kind: z.enum(faultKinds),
  /** Only calls of this method, e.g. `chat.postMessage`, `issueCreate`, `dispatch`. Default: all. */
  method: z.string().min(1).max(100).optional(),
  /** Only calls about this channel, issue, repository or mailbox. Default: all. */
  channel: z.string().min(1).max(300).optional(),
  /** How many calls fail before the rule is used up. Default: until it is removed. */
  times: z.int().min(1).max(1_000_000).optional(),
  /** How many matching calls are let through first. Default: 0. */
  after: z.int().min(0).max(1_000_000).optional(),
  /** Probability for each matching call, drawn from `seed` in order of arrival. Default: 1. */
  probability: z.number().gt(0).max(1).optional(),
  seed: z.int().optional(),
  retryAfterSeconds: z.int().min(0).max(3600).optional(),
  ms: z.int().min(0).max(600_000).optional(),
  /** Of `answer`. Default: 200. */
  status: z.int().min(200).max(599).optional(),
  /** Of `answer`: the body, as HTML. Default: empty. */
  text: z.string().max(10_000).optional(),
  /** Of `answer`: where a redirect leads. */
  location: z.url().optional(),
  /** Of `answer`. Default: false. */
  accepts: z.boolean().optional(),
});
export type FaultInput = z.infer<typeof faultInput>;

export interface FaultRule extends FaultInput {
  readonly id: string;
  /** How many calls it has hit. */
  readonly hits: number;
}

/** What the draw knows about a call. */
export interface CallFacts {
  readonly provider: Provider;
  readonly method: string;
  readonly channel?: string | undefined;
  /** True for a step within a call: it fails only when a rule names it. */
  readonly onlyIfNamed?: true;
}

interface LiveRule {
  readonly id: string;
  readonly input: FaultInput;
  readonly random: () => number;
  seen: number;
  hits: number;
}

const maxRules = 200;

export class FaultPlan {
  #rules: LiveRule[] = [];
  #held = new Set<() => void>();
  #nextId = 1;

  /** Adds a rule; of several that match a call, the oldest wins. */
  add(input: FaultInput): FaultRule {
    const checked = faultInput.parse(input);
    if (this.#rules.length >= maxRules) throw new RangeError(`At most ${maxRules} faults at once; remove some first.`);
    const rule: LiveRule = {
      id: `F${this.#nextId++}`,
      input: checked,
      random: seeded(checked.seed ?? 1),
      seen: 0,
      hits: 0,
    };
    this.#rules.push(rule);
    return shown(rule);
  }

  remove(id: string): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    return this.#rules.length < before;
  }

  /** Removes all rules, or those of one provider, and releases what was held back. */
  clear(provider?: Provider): void {
    this.#rules = this.#rules.filter((rule) => provider !== undefined && rule.input.provider !== provider);
    this.release();
  }

  list(): FaultRule[] {
    return this.#rules.map(shown);
  }

  /** The fault that this call meets, if any. A rule that is used up is removed. */
  draw(call: CallFacts): FaultInput | undefined {
    for (const rule of this.#rules) {
      if (!matches(rule.input, call)) continue;
      rule.seen += 1;
      if (rule.seen <= (rule.input.after ?? 0)) continue;
      if (rule.random() >= (rule.input.probability ?? 1)) continue;
      rule.hits += 1;
      if (rule.hits >= (rule.input.times ?? Infinity)) this.remove(rule.id);
      return rule.input;
    }
    return undefined;
  }

  /** Releases the answers that `late` and `hang` hold back; those of `hang` are cut. */
  release(): void {
    for (const letGo of this.#held) letGo();
  }

  /** Resolves at `release`, after `ms` when given, or when the signal aborts. */
  hold(signal: AbortSignal, ms?: number): Promise<void> {
    const { promise, resolve } = deferred<undefined>();
    const letGo = (): void => {
      this.#held.delete(letGo);
      signal.removeEventListener("abort", letGo);
      clearTimeout(timer);
      resolve(undefined);
    };
    const timer = ms === undefined ? undefined : setTimeout(letGo, ms);
    this.#held.add(letGo);
    signal.addEventListener("abort", letGo);
    if (signal.aborted) letGo();
    return promise;
  }
}

function matches(rule: FaultInput, call: CallFacts): boolean {
  return (
    rule.provider === call.provider &&
    (rule.method === undefined ? call.onlyIfNamed !== true : rule.method === call.method) &&
    (rule.channel === undefined || rule.channel === call.channel)
  );
}

function shown(rule: LiveRule): FaultRule {
  return { ...rule.input, id: rule.id, hits: rule.hits };
}

/** Mulberry32: small, even enough, and the same everywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
