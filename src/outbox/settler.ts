/**
 * Writes results back, in batches that leave at once when the relay is idle and grow while a settle is under way.
 *
 * Owns: that no result is dropped while its lease may still stand. A lost connection means that nobody knows whether the
 * settle was committed; it is sent again, and the fence makes the repeat harmless.
 * Does not own: what an outcome leads to (the SQL decides).
 */
import { call, type FunctionResult } from "../db/call.ts";
import { isPassing, isRetryableConnectionError, toHeadroomError } from "../db/errors.ts";
import { plainArray, textArray } from "../db/array-literal.ts";
import type { RelayMetrics } from "./metrics.ts";
import type { RelayLogEntry, RelayStep } from "./options.ts";
import type { Result } from "./result.ts";
import type { HeldConnection } from "../db/held-connection.ts";
import type { Stream } from "./streams.ts";
import { pause } from "../db/pause.ts";

type Written = FunctionResult<"outbox.settle">;

/** More would hold locks for long and gain nothing. */
const maxBatchRows = 2_000;
/** How long results of lanes that somebody else holds wait before they are settled again; twice as long each time. */
const busyPause = { firstMs: 50, mostMs: 1_000 } as const;
/** How often a batch is tried as a whole when the database is in trouble. */
const wholeBatchTries = 4;
/** Of one batch; when a whole receiver is gone, hundreds of lines say no more than these. */
const mostToldRows = 20;

export interface SettlerOptions {
  readonly connection: HeldConnection;
  readonly metrics: RelayMetrics;
  readonly prepare: boolean;
  readonly log: (entry: RelayLogEntry) => void;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** Aborted when the relay can wait no longer: what is not written by then is left to its lease. */
  readonly giveUp: AbortSignal;
  /** Called after rows have been settled, late ones included, or found busy. */
  readonly onSettled: (stream: Stream, rows: number) => void;
}

export class Settler {
  readonly #options: SettlerOptions;
  readonly #queues = new Map<Stream, Result[]>();
  #running: Promise<void> | undefined;
  /** Results of lanes that somebody else held when they were to be settled. What comes after them in their lane waits with them. */
  readonly #held = new Map<number | string, { readonly stream: Stream; readonly results: Result[] }>();
  #waiting: Promise<void> | undefined;
  /** Results that come to be settled again. */
  readonly #again = new Set<Result>();

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Takes one result. Results of a lane must come in sending order. */
  add(stream: Stream, result: Result): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) this.#queues.set(stream, [result]);
    else queue.push(result);
    this.#running ??= this.#run();
  }

  /** Resolves when everything taken so far has been written. */
  async idle(): Promise<void> {
    while (this.#running !== undefined || this.#waiting !== undefined) await (this.#running ?? this.#waiting);
  }

  async #run(): Promise<void> {
    // One turn of the event loop, so that results of the same moment leave together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      for (;;) {
        const next = [...this.#queues].find(([, queue]) => queue.length > 0);
        if (next === undefined) return;
        const [stream, queue] = next;
        const batch = queue.splice(0, maxBatchRows);
        // The stream goes to the back, so that a busy one does not starve the others.
        this.#queues.delete(stream);
        this.#queues.set(stream, queue);
        const free = batch.filter((result) => !this.#keepsWaiting(result));
        if (free.length > 0) await this.#settle(stream, free);
        // What waits for somebody else's lock keeps nobody from claiming more, and is told of once.
        const told = this.#again.size === 0 ? batch : batch.filter((result) => !this.#again.delete(result));
        if (told.length > 0) this.#options.onSettled(stream, told.length);
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #settle(stream: Stream, batch: readonly Result[]): Promise<void> {
    const { metrics, log, onStep, giveUp } = this.#options;
    const beganAtMs = performance.now();
    for (let attempt = 1; !giveUp.aborted; attempt += 1) {
      try {
        onStep?.("settle.before");
        const written = await this.#write(stream, batch);
        onStep?.("settle.after");
        this.#count(stream, batch, written);
        this.#hold(stream, batch, new Set(written.busy));
        return;
      } catch (error) {
        metrics.settleErrors += 1;
        const { code, sqlState } = toHeadroomError(error);
        log({ level: "error", event: "settle_failed", stream: stream.name, rows: batch.length, code, attempt });
        // What takes too long as a whole may be quick enough in parts, hence not for ever.
        const patient = attempt < wholeBatchTries || lanesOf(batch).length <= 1;
        const mayPass = isPassing(sqlState) || code === "partition_missing";
        const passing = mayPass && patient && performance.now() - beganAtMs < stream.leaseMs;
        if (!isRetryableConnectionError(error) && !passing) return this.#isolate(stream, batch);
        await pause(Math.min(50 * 2 ** attempt, 2_000), giveUp);
      }
    }
  }

  /** Results behind one of their lane that is held wait with it. */
  #keepsWaiting(result: Result): boolean {
    const held = this.#held.get(laneOf(result));
    held?.results.push(result);
    return held !== undefined;
  }

  #hold(stream: Stream, batch: readonly Result[], busy: ReadonlySet<string>): void {
    for (const result of batch) {
      if (!busy.has(result.message.outboxId) || this.#keepsWaiting(result)) continue;
      this.#held.set(laneOf(result), { stream, results: [result] });
    }
    if (busy.size > 0) this.#waiting ??= this.#releaseHeld().finally(() => (this.#waiting = undefined));
  }

  /** An operator is done in a moment, or at a prompt for a minute. The claim stands meanwhile: nobody can take back what nobody can lock. */
  async #releaseHeld(): Promise<void> {
    const { giveUp, log } = this.#options;
    for (let round = 0; this.#held.size > 0; round += 1) {
      if (round === 5) log({ level: "warn", event: "settle_waits", lanes: this.#held.size });
      await pause(Math.min(busyPause.firstMs * 2 ** round, busyPause.mostMs), giveUp);
      const all = [...this.#held.values()];
      this.#held.clear();
      if (giveUp.aborted) return;
      for (const { results } of all) for (const result of results) this.#again.add(result);
      // Ahead of what came meanwhile: results of a lane are settled in order.
      for (const { stream, results } of all)
        this.#queues.set(stream, [...results, ...(this.#queues.get(stream) ?? [])]);
      this.#running ??= this.#run();
      await this.#running;
    }
  }

  /** A batch that the database refuses is halved until the row at fault stands alone; that one is left to its lease. */
  async #isolate(stream: Stream, batch: readonly Result[]): Promise<void> {
    const lanes = lanesOf(batch);
    if (lanes.length <= 1) {
      this.#options.log({
        level: "error",
        event: "settle_given_up",
        stream: stream.name,
        rows: batch.length,
        outboxId: batch[0]?.message.outboxId,
      });
      return;
    }
    const firstHalf = new Set(lanes.slice(0, lanes.length / 2));
    const inFirst = (result: Result): boolean => firstHalf.has(laneOf(result));
    await this.#settle(stream, batch.filter(inFirst));
    const rest = batch.filter((result) => !inFirst(result));
    await this.#settle(stream, rest);
  }

  /** By what the database says that it wrote. A call took its time even if its result came too late to count. */
  #count(stream: Stream, batch: readonly Result[], written: Written): void {
    const { metrics, log } = this.#options;
    const busy = new Set(written.busy);
    for (const { outcome, latencyMs, message } of batch) {
      if (outcome !== "released" && !busy.has(message.outboxId)) metrics.observeLatency(latencyMs);
    }
    metrics.countAttempts("DISPATCHED", written.delivered);
    metrics.countAttempts("RETRYABLE", written.retried);
    metrics.countAttempts("RELEASED", written.released);
    metrics.countAttempts("FAILED", written.failed);
    const late = written.late ?? [];
    if (written.given_up !== null) this.#tellGivenUp(stream, batch, new Set(written.given_up));
    if (late.length === 0) return;
    metrics.lateSettles += late.length;
    log({ level: "warn", event: "late_settle", stream: stream.name, rows: late.length, outboxId: late[0] });
  }

  /** A dead letter waits for a person, so it is said when it happens, not only where somebody looks for it. */
  #tellGivenUp(stream: Stream, batch: readonly Result[], ids: ReadonlySet<string>): void {
    const { log } = this.#options;
    const dead = batch.filter(({ message }) => ids.has(message.outboxId));
    for (const { message, outcome, code } of dead.slice(0, mostToldRows)) {
      log({
        level: "warn",
        event: "given_up",
        stream: stream.name,
        rail: message.rail?.name,
        outboxId: message.outboxId,
        key: message.key,
        attempt: message.tryNo,
        code: outcome === "unknown" ? "outcome_unknown" : code,
      });
    }
    const untold = dead.length - mostToldRows;
    if (untold > 0) log({ level: "warn", event: "more_given_up", stream: stream.name, rows: untold });
  }

  #write(stream: Stream, batch: readonly Result[]): Promise<Written> {
    const column = <T>(value: (result: Result) => T): T[] => batch.map(value);
    const some = (test: (result: Result) => boolean): boolean => batch.some(test);
    const texts = (value: (result: Result) => string | undefined): string | null =>
      some((result) => value(result) !== undefined) ? textArray(column((result) => value(result) ?? null)) : null;
    const allDelivered = !some((result) => result.outcome !== "delivered");
    const args = {
      p_stream_id: stream.id,
      p_claim_ids: plainArray(column((result) => result.message.row.claim_id)),
      p_lane_ids: stream.ordered ? plainArray(column((result) => result.message.row.lane_id)) : null,
      p_seqs: stream.ordered ? plainArray(column((result) => result.message.row.seq)) : null,
      p_outbox_ids: plainArray(column((result) => result.message.row.outbox_id)),
      p_attempt_nos: plainArray(column((result) => result.message.row.attempt_no)),
      p_latencies_ms: plainArray(column((result) => Math.round(result.latencyMs))),
      p_codes: texts((result) => result.code),
      p_references: texts((result) => result.reference),
      p_outcomes: allDelivered ? null : plainArray(column((result) => result.outcome)),
      p_messages: allDelivered ? null : texts((result) => result.reason),
      p_after_ms: allDelivered
        ? null
        : plainArray(column((result) => (result.afterMs === undefined ? null : Math.round(result.afterMs)))),
      p_throttled: allDelivered ? null : plainArray(column((result) => result.throttled ?? false)),
      p_absent: allDelivered ? null : plainArray(column((result) => result.absent ?? false)),
      p_destination_ids: some((result) => result.message.row.destination_id !== null)
        ? plainArray(column((result) => result.message.row.destination_id))
        : null,
      p_captures: some((result) => result.captured !== undefined)
        ? batch.flatMap((result) =>
            result.captured === undefined ? [] : [{ id: result.message.outboxId, values: result.captured }],
          )
        : null,
      p_sent_hashes: texts((result) => (result.outcome === "released" ? undefined : result.message.sentHash)),
    };
    return this.#options.connection.use((db) => call(db, "outbox.settle", args, { prepare: this.#options.prepare }));
  }
}

/** Rows of a lane are settled together; a row without order stands for itself. */
function laneOf({ message }: Result): number | string {
  return message.row.lane_id ?? message.outboxId;
}

function lanesOf(batch: readonly Result[]): (number | string)[] {
  return [...new Set(batch.map(laneOf))];
}
