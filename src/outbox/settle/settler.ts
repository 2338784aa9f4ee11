/**
 * Writes outcomes back, in batches that leave immediately when the relay is idle and grow while a settle is under way.
 *
 * Owns: that no outcome is dropped while its lease may still be valid. After a lost connection nobody knows whether the
 * settle was committed; it is sent again, and the fence makes the repeat harmless.
 * Does not own: what an outcome leads to (the SQL decides).
 */
import { call, type FunctionResult } from "../../db/call.ts";
import { isPassing, isRetryableConnectionError, toHeadroomError } from "../../db/errors.ts";
import { compositeArray, type CompositeField } from "../../db/values/array-literal.ts";
import type { RelayMetrics } from "../observe/metrics.ts";
import type { LimitedLog } from "../observe/limited-log.ts";
import type { Log } from "../observe/log.ts";
import type { RelayStep } from "../observe/steps.ts";
import type { RowOutcome } from "./row-outcome.ts";
import type { HeldConnection } from "../../db/held-connection.ts";
import type { Stream } from "../claim/streams.ts";
import { pause } from "../../db/wait/pause.ts";

type Written = FunctionResult<"outbox.settle">;

/** More would hold locks for long without being faster. */
const maxBatchRows = 2_000;
/** How long outcomes of lanes that another session holds wait before they are settled again; twice as long each time. */
const busyPause = { firstMs: 50, maxMs: 1_000 } as const;
/** How often a whole batch is tried when the database has a problem. */
const wholeBatchTries = 4;
/** Maximum log lines of one batch: when a receiver is down, hundreds of lines say no more than these. */
const maxToldRows = 20;

export interface SettlerOptions {
  readonly connection: HeldConnection;
  readonly metrics: RelayMetrics;
  readonly prepare: boolean;
  readonly log: Log;
  /** For entries that may be logged for every row. */
  readonly limitedLog: LimitedLog;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** Aborted when the relay can wait no longer: outcomes that are not written by then are left to their lease. */
  readonly giveUp: AbortSignal;
  /** Called after rows have been settled, late ones included, or found busy. */
  readonly onSettled: (stream: Stream, rows: number) => void;
}

export class Settler {
  readonly #options: SettlerOptions;
  readonly #queues = new Map<Stream, RowOutcome[]>();
  #running: Promise<void> | undefined;
  /** Outcomes of lanes that another session held when they were to be settled. Later outcomes of their lane wait with them. */
  readonly #held = new Map<number | string, { readonly stream: Stream; readonly outcomes: RowOutcome[] }>();
  #waiting: Promise<void> | undefined;
  /** Outcomes that are to be settled again. */
  readonly #again = new Set<RowOutcome>();

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Takes one outcome. Outcomes of a lane must come in sending order. */
  add(stream: Stream, outcome: RowOutcome): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) this.#queues.set(stream, [outcome]);
    else queue.push(outcome);
    this.#running ??= this.#run();
  }

  /** Resolves when everything taken so far has been written. */
  async idle(): Promise<void> {
    while (this.#running !== undefined || this.#waiting !== undefined) await (this.#running ?? this.#waiting);
  }

  async #run(): Promise<void> {
    // One turn of the event loop, so that outcomes of the same moment leave together.
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
        const free = batch.filter((outcome) => !this.#keepsWaiting(outcome));
        if (free.length > 0) await this.#settle(stream, free);
        // Outcomes that wait for another session's lock do not stop claims, and are reported only once.
        const told = this.#again.size === 0 ? batch : batch.filter((outcome) => !this.#again.delete(outcome));
        if (told.length > 0) this.#options.onSettled(stream, told.length);
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #settle(stream: Stream, batch: readonly RowOutcome[]): Promise<void> {
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
        // A batch that takes too long may be quick enough in parts, so it is not retried forever.
        const patient = attempt < wholeBatchTries || lanesOf(batch).length <= 1;
        const mayPass = isPassing(sqlState) || code === "partition_missing";
        const passing = mayPass && patient && performance.now() - beganAtMs < stream.leaseMs;
        if (!isRetryableConnectionError(error) && !passing) return this.#isolate(stream, batch);
        await pause(Math.min(50 * 2 ** attempt, 2_000), giveUp);
      }
    }
  }

  /** Outcomes behind one of a held lane wait with it. */
  #keepsWaiting(outcome: RowOutcome): boolean {
    const held = this.#held.get(laneOf(outcome));
    held?.outcomes.push(outcome);
    return held !== undefined;
  }

  #hold(stream: Stream, batch: readonly RowOutcome[], busy: ReadonlySet<string>): void {
    for (const outcome of batch) {
      if (!busy.has(outcome.message.outboxId) || this.#keepsWaiting(outcome)) continue;
      this.#held.set(laneOf(outcome), { stream, outcomes: [outcome] });
    }
    if (busy.size > 0) this.#waiting ??= this.#releaseHeld().finally(() => (this.#waiting = undefined));
  }

  /** An operator takes a moment, or at a prompt a minute. The claim stays valid meanwhile: a locked row cannot be taken back. */
  async #releaseHeld(): Promise<void> {
    const { giveUp, log } = this.#options;
    for (let round = 0; this.#held.size > 0; round += 1) {
      if (round === 5) log({ level: "warn", event: "settle_waits", lanes: this.#held.size });
      await pause(Math.min(busyPause.firstMs * 2 ** round, busyPause.maxMs), giveUp);
      const all = [...this.#held.values()];
      this.#held.clear();
      if (giveUp.aborted) return;
      for (const { outcomes } of all) for (const outcome of outcomes) this.#again.add(outcome);
      // Before outcomes that came meanwhile: outcomes of a lane are settled in order.
      for (const { stream, outcomes } of all)
        this.#queues.set(stream, [...outcomes, ...(this.#queues.get(stream) ?? [])]);
      this.#running ??= this.#run();
      await this.#running;
    }
  }

  /** A batch that the database refuses is halved until the row at fault is alone; that one is left to its lease. */
  async #isolate(stream: Stream, batch: readonly RowOutcome[]): Promise<void> {
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
    const inFirst = (outcome: RowOutcome): boolean => firstHalf.has(laneOf(outcome));
    await this.#settle(stream, batch.filter(inFirst));
    const rest = batch.filter((outcome) => !inFirst(outcome));
    await this.#settle(stream, rest);
  }

  /** By the lines that the database says it wrote. A call took its time even if its outcome came too late. */
  #count(stream: Stream, batch: readonly RowOutcome[], written: Written): void {
    const { metrics, log } = this.#options;
    const busy = new Set(written.busy);
    for (const { kind, latencyMs, message } of batch) {
      if (kind !== "released" && !busy.has(message.outboxId)) metrics.observeLatency(latencyMs);
    }
    metrics.countAttempts("DISPATCHED", written.delivered);
    metrics.countAttempts("RETRYABLE", written.retried);
    metrics.countAttempts("RELEASED", written.released);
    metrics.countAttempts("FAILED", written.failed);
    const late = written.late ?? [];
    if (written.retried > 0) this.#tellFailed(stream, batch, new Set([...late, ...busy, ...(written.given_up ?? [])]));
    if (written.given_up !== null) this.#tellGivenUp(stream, batch, new Set(written.given_up));
    if (late.length === 0) return;
    metrics.lateSettles += late.length;
    log({ level: "warn", event: "late_settle", stream: stream.name, rows: late.length, outboxId: late[0] });
  }

  /** A try that failed and will be repeated. A receiver's own request to be slower is not a problem. */
  #tellFailed(stream: Stream, batch: readonly RowOutcome[], others: ReadonlySet<string>): void {
    for (const { message, kind, code, throttled } of batch) {
      if ((kind !== "retry" && kind !== "unknown") || others.has(message.outboxId)) continue;
      this.#options.limitedLog.tell({
        level: throttled === true ? "info" : "warn",
        event: "try_failed",
        stream: stream.name,
        rail: message.rail?.name,
        outboxId: message.outboxId,
        attempt: message.tryNo,
        code: kind === "unknown" ? "outcome_unknown" : code,
      });
    }
  }

  /** A dead letter waits for a person, so it is logged when it happens, not only shown where people look for it. */
  #tellGivenUp(stream: Stream, batch: readonly RowOutcome[], ids: ReadonlySet<string>): void {
    const { log } = this.#options;
    const dead = batch.filter(({ message }) => ids.has(message.outboxId));
    for (const { message, kind, code } of dead.slice(0, maxToldRows)) {
      log({
        level: "warn",
        event: "given_up",
        stream: stream.name,
        rail: message.rail?.name,
        outboxId: message.outboxId,
        key: message.key,
        attempt: message.tryNo,
        code: kind === "unknown" ? "outcome_unknown" : code,
      });
    }
    const untold = dead.length - maxToldRows;
    if (untold > 0) log({ level: "warn", event: "more_given_up", stream: stream.name, rows: untold });
  }

  #write(stream: Stream, batch: readonly RowOutcome[]): Promise<Written> {
    const args = { p_stream_id: stream.id, p_outcomes: compositeArray(batch.map(fieldsOf)) };
    return this.#options.connection.use((db) => call(db, "outbox.settle", args, { prepare: this.#options.prepare }));
  }
}

/** In the order of outbox.row_outcome. Default values are left out, which is the shortest to write and to read. */
function fieldsOf(outcome: RowOutcome): CompositeField[] {
  const { message, kind, code, reference, reason, afterMs, throttled, absent, captured } = outcome;
  const { row } = message;
  return [
    row.claim_id,
    row.lane_id,
    row.seq,
    row.outbox_id,
    row.attempt_no,
    Math.round(outcome.latencyMs),
    kind === "delivered" ? null : kind,
    code,
    reference,
    reason,
    afterMs === undefined ? null : Math.round(afterMs),
    throttled,
    absent,
    row.destination_id,
    captured === undefined ? null : JSON.stringify(captured),
    kind === "released" ? null : message.sentHash,
  ];
}

/** Rows of a lane are settled together; a row without order is settled by itself. */
function laneOf({ message }: RowOutcome): number | string {
  return message.row.lane_id ?? message.outboxId;
}

function lanesOf(batch: readonly RowOutcome[]): (number | string)[] {
  return [...new Set(batch.map(laneOf))];
}
