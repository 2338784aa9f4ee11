/**
 * Takes claimed rows through their rails: lanes in parallel, the rows of a lane one after the other.
 *
 * Owns: order within a run, the lease check before every send, handing back what may no longer be sent, and that no row can
 * affect another. Does not own: what is claimed when, or how outcomes are written.
 */
import { call, type FunctionResult } from "../../db/call.ts";
import { isPassing, isRetryableConnectionError, toHeadroomError } from "../../db/errors.ts";
import type { Rail } from "../../contract/rail.ts";
import type { Captured } from "../settle/captures.ts";
import { elapsedMs, type Moment } from "../claim/elapsed.ts";
import { type ClaimedRow, Message } from "../claim/message.ts";
import type { RelayStep } from "../observe/steps.ts";
import { reasonOf } from "./read-outcome.ts";
import type { Line, Places } from "../claim/places.ts";
import { released, type RowOutcome } from "../settle/row-outcome.ts";
import { send } from "./send.ts";
import type { HeldConnection } from "../../db/held-connection.ts";
import type { Stream } from "../claim/streams.ts";
import { type Calls, isPromise, longestSendMs } from "./calls.ts";

export interface DispatcherOptions {
  readonly rails: ReadonlyMap<number, Rail>;
  readonly places: Places;
  readonly calls: Calls;
  readonly leaseMarginMs: number;
  /** For filling in what rows bind. */
  readonly connection: HeldConnection;
  readonly onOutcome: (stream: Stream, outcome: RowOutcome) => void;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** True once the relay hands back instead of sending. */
  readonly stopping: () => boolean;
}

interface Claim {
  readonly stream: Stream;
  /** Taken before the claim was asked for: the lease cannot be younger. */
  readonly claimedAt: Moment;
  /** The texts of rows that bind something, by the row's id; a row that is not here is filled when its turn comes. */
  readonly filled: ReadonlyMap<string, Filled>;
}

type Filled = FunctionResult<"outbox.fill_binds">[number];

export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Sends all rows of a claim; every row gets exactly one outcome, whatever happens to the others. */
  async dispatch(stream: Stream, rows: readonly ClaimedRow[], claimedAt: Moment): Promise<void> {
    const { rails, places } = this.#options;
    const messages = rows.map((row) => new Message(row, stream, rails.get(row.rail_id)));
    places.claimed(stream, messages);
    const claim: Claim = { stream, claimedAt, filled: await this.#fillAhead(rows) };
    const waiting: Promise<void>[] = [];
    for (let start = 0; start < rows.length;) {
      const laneId = rows[start]?.lane_id ?? null;
      let end = start + 1;
      if (laneId !== null) while (end < rows.length && rows[end]?.lane_id === laneId) end += 1;
      const run = messages.slice(start, end);
      const done = this.#sendRun(claim, run, 0, {});
      if (done !== null) waiting.push(done);
      start = end;
    }
    await Promise.all(waiting);
  }

  /** Null when everything was answered synchronously. */
  #sendRun(claim: Claim, run: readonly Message[], from: number, ownCaptures: Captured): Promise<void> | null {
    let captures = ownCaptures;
    for (let index = from; index < run.length; index += 1) {
      const message = run[index];
      if (message === undefined) return null;
      const sent = this.#sendOne(claim, message, captures);
      if (isPromise(sent)) return this.#continueRun(claim, run, index, captures, sent);
      if (!this.#report(claim, run, index, sent)) return null;
      if (sent.captured !== undefined) captures = { ...captures, ...sent.captured };
    }
    return null;
  }

  async #continueRun(
    claim: Claim,
    run: readonly Message[],
    index: number,
    captures: Captured,
    sending: Promise<RowOutcome>,
  ): Promise<void> {
    const sent = await sending;
    if (!this.#report(claim, run, index, sent)) return;
    await this.#sendRun(
      claim,
      run,
      index + 1,
      sent.captured === undefined ? captures : { ...captures, ...sent.captured },
    );
  }

  /** The first row that is not delivered hands back those behind it. Returns whether the run continues. */
  #report(claim: Claim, run: readonly Message[], index: number, outcome: RowOutcome): boolean {
    this.#options.onStep?.("send.after");
    this.#finish(claim, outcome);
    if (outcome.kind === "delivered") return true;
    for (const behind of run.slice(index + 1)) this.#finish(claim, released(behind, "behind_undelivered"));
    return false;
  }

  #finish({ stream }: Claim, outcome: RowOutcome): void {
    this.#options.places.finished(stream, outcome.message);
    this.#options.onOutcome(stream, outcome);
  }

  /** A failure between claim and settle affects only its own row. Nobody knows what had been sent by then. */
  #sendOne(claim: Claim, message: Message, captures: Captured): RowOutcome | Promise<RowOutcome> {
    const faulty = (error: unknown): RowOutcome => ({
      message,
      kind: "unknown",
      latencyMs: 0,
      code: "relay_fault",
      reason: reasonOf(error),
    });
    try {
      const sent = this.#sendWhenFree(claim, message, captures);
      return isPromise(sent) ? sent.catch(faulty) : sent;
    } catch (error) {
      return faulty(error);
    }
  }

  #sendWhenFree(claim: Claim, message: Message, captures: Captured): RowOutcome | Promise<RowOutcome> {
    const rail = message.rail;
    // A claim returns no such row; if one comes all the same, it must not come again and again.
    if (rail === undefined) return released(message, "rail_elsewhere", 10_000);
    const { places } = this.#options;
    const line = places.line(claim.stream, rail);
    const place = places.take(line, message.destination !== null);
    return place === null
      ? this.#sendInPlace(claim, message, rail, captures, line)
      : place.then(() => this.#sendInPlace(claim, message, rail, captures, line));
  }

  #sendInPlace(
    claim: Claim,
    message: Message,
    rail: Rail,
    captures: Captured,
    line: Line,
  ): RowOutcome | Promise<RowOutcome> {
    const { places } = this.#options;
    const bound = message.destination !== null;
    const sent = message.row.has_binds
      ? this.#fillAndSend(claim, message, rail, captures)
      : this.#send(claim, message, rail);
    if (!isPromise(sent)) {
      places.give(line, bound);
      return sent;
    }
    return sent.finally(() => places.give(line, bound));
  }

  #fillAndSend(claim: Claim, message: Message, rail: Rail, captures: Captured): RowOutcome | Promise<RowOutcome> {
    const filled = claim.filled.get(message.outboxId);
    if (filled !== undefined) return this.#sendFilled(claim, message, rail, filled);
    return this.#fill([message.outboxId], captures).then(
      ([one]) => this.#sendFilled(claim, message, rail, one),
      (error: unknown) => notAsked(message, error),
    );
  }

  #sendFilled(
    claim: Claim,
    message: Message,
    rail: Rail,
    filled: Filled | undefined,
  ): RowOutcome | Promise<RowOutcome> {
    if (filled === undefined) return notFilled(message, "The row is gone.");
    const { body, sent_hash: hash, outcome, code, reason } = filled;
    if (body === null) {
      const rejected = outcome === "rejected";
      return { ...notFilled(message, reason ?? "", code ?? undefined), kind: rejected ? "rejected" : "retry" };
    }
    message.body = body;
    message.filledHash = hash === null ? undefined : `\\x${hash.toString("hex")}`;
    return this.#send(claim, message, rail);
  }

  /** The last check of the lease is right before the call, because filling in takes time too. */
  #send(claim: Claim, message: Message, rail: Rail): RowOutcome | Promise<RowOutcome> {
    const { calls, leaseMarginMs, onStep, stopping } = this.#options;
    const sinceClaimMs = elapsedMs(claim.claimedAt);
    if (stopping()) return released(message, "relay_stopping");
    if (claim.stream.leaseMs - sinceClaimMs <= longestSendMs(rail) + leaseMarginMs) {
      return released(message, "lease_too_short");
    }
    onStep?.("send.before");
    return send(message, claim.stream, rail, calls, sinceClaimMs);
  }

  /**
   * The texts of all rows that bind something, in one query. Rows behind one that captures wait for its capture, and are filled one by one;
   * so are all of them when one of them makes the query fail.
   */
  async #fillAhead(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<string, Filled>> {
    const capturing = new Set<number | null>();
    const ids: string[] = [];
    for (const { lane_id: lane, outbox_id: id, has_binds: binds, captures } of rows) {
      if (binds && (lane === null || !capturing.has(lane))) ids.push(id);
      if (captures !== null) capturing.add(lane);
    }
    if (ids.length === 0) return nothingFilled;
    const filled = await this.#fill(ids).catch(() => []);
    return new Map(filled.map((one) => [one.outbox_id, one]));
  }

  #fill(ids: readonly string[], captured: Captured = {}): Promise<Filled[]> {
    return this.#options.connection.use((db) =>
      call(db, "outbox.fill_binds", { p_outbox_ids: [...ids], p_captured: captured }),
    );
  }
}

const nothingFilled: ReadonlyMap<string, Filled> = new Map();

/** Nothing was sent, because the row's binds could not be filled in. */
function notFilled(message: Message, reason: string, code = "render_failed"): RowOutcome {
  return { message, kind: "retry", latencyMs: 0, code, reason: reasonOf(reason) };
}

/** The query failed. If the database has a problem, the row waits; a time-out may be caused by the row itself, and counts as its try. */
function notAsked(message: Message, error: unknown): RowOutcome {
  const { code, sqlState } = toHeadroomError(error);
  const waits = isRetryableConnectionError(error) || (isPassing(sqlState) && code !== "query_canceled");
  return waits ? released(message, "binds_unreadable", 1_000) : notFilled(message, code);
}
