/**
 * The producers' own books: what was to be enqueued, and whether its transaction was committed. The oracle trusts
 * these and the receiver, never the database alone.
 */
import type { NewRow } from "../../../src/outbox/enqueue/enqueue.ts";

export interface Intent {
  /** Part of the payload, so that the receiver's record can be matched with this. */
  readonly n: number;
  readonly row: NewRow;
  /** `in doubt`: the answer to the commit was lost and the outcome could not be checked. */
  state: "open" | "committed" | "rolled back" | "in doubt";
  outboxId: string | undefined;
  seq: number | null;
}

export class Ledger {
  readonly intents: Intent[] = [];
  readonly #committed: Intent[] = [];

  open(makeRow: (n: number) => NewRow): Intent {
    const n = this.intents.length + 1;
    const intent: Intent = { n, row: makeRow(n), state: "open", outboxId: undefined, seq: null };
    this.intents.push(intent);
    return intent;
  }

  commit(intent: Intent, outboxId: string, seq: number | null): void {
    intent.state = "committed";
    intent.outboxId = outboxId;
    intent.seq = seq;
    this.#committed.push(intent);
  }

  get committed(): readonly Intent[] {
    return this.#committed;
  }

  count(state: Intent["state"]): number {
    return this.intents.filter((intent) => intent.state === state).length;
  }
}
