/**
 * Takes claimed rows through their rails: lanes side by side, the rows of a lane one after the other.
 *
 * Owns: order within a run, the lease check before every send, and handing back what may not be sent any more. Does not
 * own: what is claimed when, or how results are written.
 */
import { call } from "../db/call.ts";
import { HeadroomError } from "../db/errors.ts";
import type { Rail } from "../rails/rail.ts";
import { type Captured, fillBinds, namesRenderer, type Rendered } from "./bind.ts";
import { type ClaimedRow, Message } from "./message.ts";
import type { RelayStep } from "./options.ts";
import { reasonOf } from "./outcome.ts";
import { released, type Result } from "./result.ts";
import { send } from "./send.ts";
import type { Session } from "./session.ts";
import type { CallSlots } from "./slots.ts";
import { longestSendMs, type Stream } from "./streams.ts";
import { type Calls, isPromise } from "./timed.ts";

/**
 * How long a row of a rail that this relay lacks is left alone, so that a relay which has it finds it. Longer each time: every
 * handing back writes two lines of archive, and a rail that nobody has may be missing for days.
 */
const foreignRailPause = { firstMs: 10_000, mostMs: 600_000 } as const;

function foreignRailPauseMs(message: Message): number {
  const handedBackBefore = (message.row.attempt_no - 1) / 2;
  return Math.min(foreignRailPause.firstMs * 2 ** handedBackBefore, foreignRailPause.mostMs);
}

export interface DispatcherOptions {
  readonly rails: ReadonlyMap<number, Rail>;
  readonly slots: CallSlots;
  readonly calls: Calls;
  readonly leaseMarginMs: number;
  /** For reading captures. */
  readonly session: Session;
  readonly onResult: (stream: Stream, result: Result) => void;
  readonly onStep: ((step: RelayStep) => void) | undefined;
  /** True once the relay hands back instead of sending. */
  readonly stopping: () => boolean;
}

interface Claim {
  readonly stream: Stream;
  /** By this process' monotonic clock, taken before the claim was asked for: the lease cannot be younger. */
  readonly claimedAtMs: number;
  /** What the lanes of this claim had captured, where a row binds something. */
  readonly captured: ReadonlyMap<number, Captured>;
  /** What renderers made of the rows that name one, by the row's id. */
  readonly rendered: ReadonlyMap<string, Rendered>;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Sends all rows of a claim; every row gets exactly one result. */
  async dispatch(stream: Stream, rows: readonly ClaimedRow[], claimedAtMs: number): Promise<void> {
    const { rails } = this.#options;
    const captured = await this.#readCaptured(rows);
    const rendered = await this.#render(rows);
    const claim: Claim = { stream, claimedAtMs, captured, rendered };
    const waiting: Promise<void>[] = [];
    for (let start = 0; start < rows.length;) {
      const laneId = rows[start]?.lane_id ?? null;
      let end = start + 1;
      if (laneId !== null) while (end < rows.length && rows[end]?.lane_id === laneId) end += 1;
      const run = rows.slice(start, end).map((row) => new Message(row, stream, rails.get(row.rail_id)));
      const done = this.#sendRun(claim, run, 0, {});
      if (done !== null) waiting.push(done);
      start = end;
    }
    await Promise.all(waiting);
  }

  /** Null when everything was answered at once. */
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
    sending: Promise<Result>,
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

  /** The first row that is not delivered hands back those behind it. Returns whether the run goes on. */
  #report(claim: Claim, run: readonly Message[], index: number, result: Result): boolean {
    const { onResult, onStep } = this.#options;
    onStep?.("send.after");
    onResult(claim.stream, result);
    if (result.outcome === "delivered") return true;
    for (const behind of run.slice(index + 1)) onResult(claim.stream, released(behind, "behind_undelivered"));
    return false;
  }

  #sendOne(claim: Claim, message: Message, captures: Captured): Result | Promise<Result> {
    const rail = message.rail;
    if (rail === undefined) return released(message, "rail_elsewhere", foreignRailPauseMs(message));
    const place = this.#options.slots.take(rail);
    return place === null
      ? this.#sendInPlace(claim, message, rail, captures)
      : place.then(() => this.#sendInPlace(claim, message, rail, captures));
  }

  #sendInPlace(claim: Claim, message: Message, rail: Rail, captures: Captured): Result | Promise<Result> {
    const { slots, leaseMarginMs } = this.#options;
    const sinceClaimMs = performance.now() - claim.claimedAtMs;
    let sent: Result | Promise<Result>;
    if (this.#options.stopping()) sent = released(message, "relay_stopping");
    else if (claim.stream.leaseMs - sinceClaimMs <= longestSendMs(rail) + leaseMarginMs)
      sent = released(message, "lease_too_short");
    else sent = this.#bindAndSend(claim, message, rail, captures, sinceClaimMs);
    if (!isPromise(sent)) {
      slots.give(rail);
      return sent;
    }
    return sent.finally(() => slots.give(rail));
  }

  #bindAndSend(
    claim: Claim,
    message: Message,
    rail: Rail,
    captures: Captured,
    sinceClaimMs: number,
  ): Result | Promise<Result> {
    const { binds, lane_id: laneId } = message.row;
    if (binds !== null) {
      const stored = laneId === null ? undefined : claim.captured.get(laneId);
      const bound = fillBinds(message.payload, binds, {
        captured: { ...stored, ...captures },
        rendered: claim.rendered.get(message.outboxId) ?? {},
      });
      if (!bound.ok) {
        return { message, outcome: bound.outcome, latencyMs: 0, code: bound.code, reason: reasonOf(bound.reason) };
      }
      message.payload = bound.payload;
    }
    this.#options.onStep?.("send.before");
    return send(message, claim.stream, rail, this.#options.calls, sinceClaimMs);
  }

  async #readCaptured(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<number, Captured>> {
    const lanes = new Set<number>();
    for (const row of rows) if (row.binds !== null && row.lane_id !== null) lanes.add(row.lane_id);
    if (lanes.size === 0) return noCaptures;
    const found = await this.#options.session.use((db) => call(db, "outbox.captured", { p_lane_ids: [...lanes] }));
    return new Map(
      found.map(({ lane_id, captured }) => {
        if (typeof captured !== "object" || captured === null || Array.isArray(captured)) {
          throw new HeadroomError("database_error", "Captures are not an object.");
        }
        return [lane_id, captured];
      }),
    );
  }

  async #render(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<string, Rendered>> {
    const ids = rows.filter((row) => namesRenderer(row.binds)).map((row) => row.outbox_id);
    if (ids.length === 0) return nothingRendered;
    const made = await this.#options.session.use((db) => call(db, "outbox.render", { p_outbox_ids: ids }));
    const rendered = new Map<string, Rendered>();
    for (const { outbox_id: id, renderer, payload, problem } of made) {
      const one = problem === null ? { value: payload } : { problem };
      rendered.set(id, { ...rendered.get(id), [renderer]: one });
    }
    return rendered;
  }
}

const noCaptures: ReadonlyMap<number, Captured> = new Map();
const nothingRendered: ReadonlyMap<string, Rendered> = new Map();
