/**
 * Making a stream, or changing the settings of one.
 */
import { call, type FunctionResult, type Queryable } from "../../db/call.ts";

export interface StreamSettings {
  /** Whether rows of a key go out strictly in order. Fixed when the stream is made. Default: true. */
  readonly ordered?: boolean | undefined;
  /** What a dead row does to its lane: `block` it until an operator acts, or `skip`. Default: skip. */
  readonly onDead?: "block" | "skip" | undefined;
  /** Whether payloads are payments, validated before they are sent. Default: false. */
  readonly carriesMoney?: boolean | undefined;
  /** Whether an uncertain row on a blind rail is sent again (a double is harmless) or parked. Default: false. */
  readonly resendBlind?: boolean | undefined;
  /** Real calls before a row is dead. Default: 5. */
  readonly maxTries?: number | undefined;
  /** The first retry waits up to this many milliseconds. Default: 2,000. */
  readonly backoffBaseMs?: number | undefined;
  /** Each further one waits up to this many times longer. Default: 2. */
  readonly backoffFactor?: number | undefined;
  /** But never longer than this many milliseconds. Default: 3,600,000. */
  readonly backoffCapMs?: number | undefined;
  /** How many seconds a claimed row belongs to its relay; longer than any rail's time-out. Default: 90. */
  readonly leaseSeconds?: number | undefined;
  /** Maximum rows of one key in one claim. Default: 20. */
  readonly runLength?: number | undefined;
  /** Default: 262,144. */
  readonly maxPayloadBytes?: number | undefined;
  /** How long archive and payloads are kept: `forever`, `quarter` or `week`. Fixed when the stream is made. Default: forever. */
  readonly retention?: string | undefined;
  /** How many days idempotency keys are remembered. Default: forever. */
  readonly dedupeDays?: number | undefined;
  /** Roles that may enqueue here. Default: everybody who may call `outbox.enqueue`. */
  readonly writers?: readonly string[] | undefined;
}

/** Makes the stream if it does not exist; otherwise changes the given settings. */
export async function createStream(db: Queryable, name: string, settings: StreamSettings = {}): Promise<void> {
  const { ordered, retention } = settings;
  await call(db, "outbox.put_stream", {
    p_name: name,
    p_settings: { ...columnsOf(settings), ordered: ordered ?? true, retention },
  });
}

/** Settings of a stream that can be changed later. Null removes a limit. */
export type StreamChanges = Omit<StreamSettings, "ordered" | "retention" | "dedupeDays" | "writers"> & {
  /** Null: forever. */
  readonly dedupeDays?: number | null | undefined;
  /** Null: everybody who may call `outbox.enqueue`. */
  readonly writers?: readonly string[] | null | undefined;
};

/** Changes the given settings of an existing stream. Relays read lease, blind resends and money when they start. */
export async function changeStream(
  db: Queryable,
  name: string,
  changes: StreamChanges,
): Promise<FunctionResult<"outbox.change_stream">> {
  return call(db, "outbox.change_stream", {
    p_name: name,
    p_changes: columnsOf(changes),
  });
}

/** What is undefined is left out of the JSON. */
function columnsOf(settings: StreamChanges): Readonly<Record<string, unknown>> {
  return {
    on_dead: settings.onDead,
    carries_money: settings.carriesMoney,
    resend_blind: settings.resendBlind,
    max_tries: settings.maxTries,
    backoff_base_ms: settings.backoffBaseMs,
    backoff_factor: settings.backoffFactor,
    backoff_cap_ms: settings.backoffCapMs,
    lease_seconds: settings.leaseSeconds,
    run_length: settings.runLength,
    max_payload_bytes: settings.maxPayloadBytes,
    dedupe_days: settings.dedupeDays,
    writers: settings.writers,
  };
}
