/**
 * The operator: checks dead letters from time to time, and redrives, resolves or skips them while everything runs.
 */
import type { Pool } from "pg";
import { call } from "../../../src/db/call.ts";
import type { ReceiverClient } from "../../integration/rails/receiver/receiver-client.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Random } from "../kit/random.ts";

interface DeadLetter {
  readonly outbox_id: string;
  readonly uncertain: boolean;
}

const actor = "chaos operator";
const skipChance = 0.08;
/** An effect may take place a little after its request was numbered. */
const overlapRequests = 2_000;

export class Operator {
  /** The rows to give up on purpose; recorded before the call, because its answer may be lost. */
  readonly skipped = new Set<string>();
  readonly #pool: Pool;
  readonly #share: number;
  readonly #receiver: ReceiverClient;
  readonly #random: Random;
  readonly #faults: FaultLog;
  readonly #arrived = new Set<string>();
  #readTo = 0;

  constructor(pool: Pool, receiver: ReceiverClient, random: Random, faults: FaultLog, share: number) {
    this.#share = share;
    this.#pool = pool;
    this.#receiver = receiver;
    this.#random = random;
    this.#faults = faults;
  }

  /** Handles dead letters once. With `all`, handles all of them. Fails while the database is down. */
  async work(all = false): Promise<void> {
    const dead = await this.#pool.query<DeadLetter>("select outbox_id, uncertain from outbox.dead limit 200");
    const chosen = all ? dead.rows : dead.rows.filter(() => this.#random.chance(this.#share));
    if (chosen.length > 0) await this.#deal(chosen, all);
  }

  async #deal(letters: readonly DeadLetter[], all: boolean): Promise<void> {
    const again: string[] = [];
    for (const { outbox_id: id, uncertain } of letters) {
      if (!all && this.#random.chance(skipChance)) await this.#skip(id);
      // A row in doubt may be redriven unchanged: the receiver drops a repeat.
      else if (!uncertain || (!all && this.#random.chance(0.5)) || !(await this.#resolve(id))) again.push(id);
    }
    if (again.length === 0) return;
    const outOfOrder = all || this.#random.chance(0.7);
    const results = await call(this.#pool, "outbox.redrive", {
      p_outbox_ids: again,
      p_actor: actor,
      p_reason: "the receiver is better now",
      p_out_of_order: outOfOrder,
    });
    for (const { result } of results) this.#faults.count(`redrives: ${result}`);
  }

  async #skip(id: string): Promise<void> {
    this.skipped.add(id);
    await call(this.#pool, "outbox.skip", { p_outbox_ids: [id], p_actor: actor, p_reason: "not worth it" });
    this.#faults.count("skips by the operator");
  }

  /** Asks the receiver whether the row arrived, and resolves it accordingly. Returns whether it did. */
  async #resolve(id: string): Promise<boolean> {
    const arrived = await this.#hasArrived(id);
    await call(this.#pool, "outbox.resolve_dead", {
      p_outbox_id: id,
      p_delivered: arrived,
      p_actor: actor,
      p_reason: "asked the receiver",
    });
    this.#faults.count(arrived ? "resolved as delivered" : "resolved as not delivered");
    return arrived;
  }

  async #hasArrived(id: string): Promise<boolean> {
    const { requests, effects } = await this.#receiver.record(Math.max(1, this.#readTo - overlapRequests));
    for (const { webhookId } of effects) this.#arrived.add(webhookId);
    this.#readTo = requests.at(-1)?.seq ?? this.#readTo;
    return this.#arrived.has(id);
  }
}
