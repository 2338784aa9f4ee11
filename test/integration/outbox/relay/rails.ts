/** Rails that do what a test tells them, and record their calls. */
import type { LookupOutcome, Rail, RailContext, RailMessage, RailOutcome } from "../../../../src/contract/rail.ts";

export interface Sent {
  readonly outboxId: string;
  readonly key: string | null;
  readonly seq: number | null;
  readonly payload: unknown;
  readonly tryNo: number;
  readonly uncertain: boolean;
}

export interface ProbeRail extends Rail {
  /** Every send, in the order of their beginnings. */
  readonly sent: Sent[];
  /** The same for lookups. */
  readonly lookedUp: string[];
  /** Sends that have begun and not ended. */
  readonly underWay: number;
  /** The maximum number of these at any one time. */
  readonly peak: number;
}

export type Send = (message: RailMessage, context: RailContext, count: number) => RailOutcome | Promise<RailOutcome>;

export interface ProbeOptions extends Partial<Omit<Rail, "send" | "lookup">> {
  readonly send?: Send;
  readonly lookup?: (message: RailMessage, context: RailContext) => LookupOutcome | Promise<LookupOutcome>;
}

/** Idempotent, with a time-out of one second; delivers everything unless told otherwise. */
export function probeRail(options: ProbeOptions = {}): ProbeRail {
  const { send = () => ({ kind: "delivered" }), lookup, ...rest } = options;
  const sent: Sent[] = [];
  const lookedUp: string[] = [];
  let underWay = 0;
  let peak = 0;
  return {
    // A rail's capability never changes, so there is one rail for each.
    name: rest.capability === undefined ? "probe" : `probe-${rest.capability}`,
    capability: "idempotent",
    timeoutMs: 1_000,
    ...rest,
    sent,
    lookedUp,
    get underWay() {
      return underWay;
    },
    get peak() {
      return peak;
    },
    async send(message, context) {
      const { outboxId, key, seq, payload, tryNo, uncertain } = message;
      sent.push({ outboxId, key, seq, payload, tryNo, uncertain });
      underWay += 1;
      peak = Math.max(peak, underWay);
      try {
        return await send(message, context, sent.length);
      } finally {
        underWay -= 1;
      }
    },
    ...(lookup === undefined
      ? {}
      : {
          lookup: (message: RailMessage, context: RailContext) => {
            lookedUp.push(message.outboxId);
            return lookup(message, context);
          },
        }),
  };
}

/** A promise that a test opens by hand. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

export const delivered: RailOutcome = { kind: "delivered" };

/** Never answers, whatever the signal says. */
export function hang(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Never answers, but gives up when it is aborted, as a well-behaved rail does. */
export function hangUntilAborted(context: RailContext): Promise<never> {
  return new Promise<never>((_, reject) => {
    context.signal.addEventListener("abort", () => reject(context.signal.reason as Error), { once: true });
  });
}
