/**
 * The numbers of a seeded run: how many, how often, how likely.
 */
import type { FaultInput, Provider } from "../../../src/sandbox/core/faults.ts";
import type { Range } from "../kit/random.ts";
import type { RunSettings } from "../kit/run.ts";
import type { Flags } from "../kit/subject.ts";

export interface NotificationsSettings extends RunSettings {
  /** How many notifications are sent, if the time is long enough. */
  readonly count: number;
  readonly relays: number;
  readonly people: number;
  readonly killEveryMs: Range;
}

/** About as many as two busy cores handle in a minute. */
const perMinute = 600;

export function notificationsSettings(flags: Pick<Flags, "seed" | "minutes" | "count">): NotificationsSettings {
  const { seed, minutes } = flags;
  const count = flags.count ?? Math.max(20, Math.round(minutes * perMinute));
  return {
    seed,
    count,
    faultsMs: minutes * 60_000,
    restMs: 120_000 + count * 60,
    relays: 3,
    people: 24,
    killEveryMs: [2_000, 6_000],
  };
}

const api = (
  provider: Provider,
  method: string,
  kind: FaultInput["kind"],
  probability: number,
  more = {},
): FaultInput => ({ provider, method, kind, probability, ...more });

/** The faults of mail servers, Postal and Slack. Those of one method are drawn in this order. */
export const weather: readonly FaultInput[] = [
  ...(
    [
      ["postal", "send"],
      ["smtp", "DATA"],
      ["slack", "chat.postMessage"],
      ["slack", "incoming_webhook"],
    ] as const
  ).flatMap(([provider, method]) => [
    api(provider, method, "error500", 0.05),
    // A mail server that refuses has not accepted the mail: its answer has no other meaning.
    ...(provider === "smtp" ? [] : [api(provider, method, "error500AfterAccept", 0.04)]),
    api(provider, method, "dropBeforeAccept", 0.03),
    api(provider, method, "dropAfterAccept", 0.04),
    api(provider, method, "cutAnswer", 0.02),
    api(provider, method, "garbage", 0.01),
    api(provider, method, "hangBeforeAccept", 0.01),
    api(provider, method, "late", 0.02, { ms: 3_000 }),
    api(provider, method, "rateLimit", 0.03, { retryAfterSeconds: 1 }),
    api(provider, method, "refuse", 0.01),
  ]),
  api("smtp", "CONNECT", "dropBeforeAccept", 0.03),
  api("smtp", "RCPT", "rateLimit", 0.03),
  api("slack", "conversations.history", "error500", 0.1),
  api("slack", "conversations.open", "error500", 0.05),
];
