/**
 * The rail interface: what the relay knows about one way of reaching the outside.
 *
 * A rail makes one call and reports its outcome. It never retries, never sleeps, never touches the
 * database and never imports another rail: order, retries, leases, rate limits and circuits belong to the engine.
 */

/** What a rail can prove about a call that may or may not have arrived. */
export type RailCapability =
  /** The receiver drops a repeat that carries the same idempotency key, for `dedupWindowMs`. */
  | "idempotent"
  /** The rail can ask the receiver whether a message arrived (`lookup`). */
  | "lookup"
  /** Neither: a repeat may be a second effect. */
  | "blind";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** One outbox row, as a rail sees it. Binds are already filled in. */
export interface RailMessage {
  /** Identifies the row forever; the same over all its tries. */
  readonly outboxId: string;
  readonly stream: string;
  /** What order is kept within; null on a stream without order. */
  readonly key: string | null;
  /** The row's number within its key, from 1; null on a stream without order. */
  readonly seq: number | null;
  readonly instructionId: string;
  readonly idempotencyKey: string;
  /**
   * The payload as JSON text, as Postgres holds it, with binds filled in and no digit changed. A rail that sends the payload itself sends
   * this, and declares it (`sends: "text"`).
   */
  readonly body: string;
  /** The payload, parsed from the text when it is first asked for. */
  readonly payload: Json;
  /** The row's tenant; null for the installation itself. */
  readonly tenantId: string | null;
  /** Whether only Headroom's own functions write to its stream: only such rows speak in Headroom's name. */
  readonly ours?: boolean | undefined;
  /** Which destination's rate limit and circuit apply, or null. */
  readonly destination: string | null;
  /** How many real calls this row has had, this one included. */
  readonly tryNo: number;
  /** True when an earlier try may have arrived. */
  readonly uncertain: boolean;
  readonly createdAt: Date;
}

export interface RailContext {
  /** Aborts at the rail's time-out, and when the relay gives up its lease. Created on first use. */
  readonly signal: AbortSignal;
}

/** How long the reason of an outcome may be: it is stored with the row, and a verbose receiver must not fill the archive. */
export const maxReasonChars = 300;

/** The outcome of one call. There are only these four, and it is never null. */
export type RailOutcome =
  | {
      readonly kind: "delivered";
      /** The receiver's own id of the effect, for people and for support tickets. */
      readonly reference?: string;
      /** The receiver's status word or number, e.g. `200`. */
      readonly code?: string;
      /** What captures are read from. Not stored. */
      readonly response?: Json;
    }
  | ({
      readonly kind: "retry";
      /** One of the rail's declared codes; never prose. */
      readonly code: string;
      readonly reason: string;
    } & PauseRequest)
  | {
      readonly kind: "rejected";
      readonly code: string;
      readonly reason: string;
      /** True if the destination is permanently gone (410). */
      readonly gone?: boolean;
    }
  | ({ readonly kind: "unknown"; readonly code: string; readonly reason: string } & PauseRequest);

/** A pause that the receiver asks for, whatever the outcome of the call. */
export interface PauseRequest {
  /** How long to wait (Retry-After); wins over the backoff when longer. */
  readonly afterMs?: number;
  /** True if the destination as a whole throttles (429): it pauses, and its circuit does not count this as a failure. */
  readonly throttled?: boolean;
}

/** What a lookup found. */
export type LookupOutcome =
  | { readonly kind: "found"; readonly reference?: string; readonly response?: Json }
  | { readonly kind: "absent" }
  /** The receiver could not be asked: the row stays uncertain and is looked up again. */
  | { readonly kind: "unavailable"; readonly code: string; readonly reason: string; readonly afterMs?: number };

export type Validation = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface Rail {
  /** As rows name it: lower case, digits and dashes. */
  readonly name: string;
  readonly capability: RailCapability;
  /** Hard limit of one call, enforced by the relay. At most 30,000. */
  readonly timeoutMs: number;
  /**
   * How the rail uses a payload. `text`: it sends `body` unchanged. `object`: it reads `payload`, and rows with a number that
   * JavaScript cannot hold are refused before the call, since the receiver would get another number. Default: `object`.
   */
  readonly sends?: "text" | "object";
  /** How many calls of this rail one relay has under way at the same time. Default: the relay's own limit. */
  readonly concurrency?: number;
  /** For `idempotent`: how long the receiver remembers a key. Default: forever. */
  readonly dedupWindowMs?: number;
  /**
   * Every code that `retry`, `rejected`, `unknown` and `unavailable` may carry: lower case, digits and underscores.
   * Operators filter and alert by code, so a rail that declares its codes must not invent one. Default: not declared.
   */
  readonly codes?: readonly string[];
  /** Checks the payload before any call; the row of a bad payload is FAILED without one. */
  validate?(message: RailMessage): Validation;
  send(message: RailMessage, context: RailContext): RailOutcome | Promise<RailOutcome>;
  /** Required for, and only for, capability `lookup`. */
  lookup?(message: RailMessage, context: RailContext): LookupOutcome | Promise<LookupOutcome>;
}
