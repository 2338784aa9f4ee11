/**
 * A claimed row on its way through the relay: what the rail sees of it, and what the settle needs to know.
 */
import type { Json, Rail, RailMessage } from "../../contract/rail.ts";
import type { Stream } from "./streams.ts";

/** As outbox.claim returns it. */
export interface ClaimedRow {
  readonly claim_id: number;
  readonly lane_id: number | null;
  readonly seq: number | null;
  readonly outbox_id: string;
  readonly attempt_no: number;
  readonly tries: number;
  readonly uncertain: boolean;
  readonly rail_id: number;
  readonly key: string | null;
  readonly instruction_id: string;
  readonly idempotency_key: string;
  readonly body: string;
  readonly destination_id: number | null;
  readonly destination: string | null;
  readonly sent_ago_ms: number | null;
  readonly captures: string | null;
  readonly has_binds: boolean;
  readonly tenant_id: string | null;
}

/** Getters for values that are rarely used: at tens of thousands of rows a second, making them costs more than the call. */
export class Message implements RailMessage {
  readonly row: ClaimedRow;
  readonly rail: Rail | undefined;
  readonly stream: string;
  readonly ours: boolean;
  body: string;
  /** The hash of the text, if the text was made just now. */
  filledHash: string | undefined;
  /** The same, once the rail was called with it. */
  sentHash: string | undefined;
  #payload: Json | undefined;

  constructor(row: ClaimedRow, stream: Stream, rail: Rail | undefined) {
    this.row = row;
    this.rail = rail;
    this.stream = stream.name;
    this.ours = stream.ours;
    this.body = row.body;
  }

  /** Parsed late, and never for a rail that sends the text. */
  get payload(): Json {
    if (this.#payload === undefined) {
      const parsed: Json = JSON.parse(this.body);
      this.#payload = parsed;
    }
    return this.#payload;
  }

  get outboxId(): string {
    return this.row.outbox_id;
  }
  get key(): string | null {
    return this.row.key;
  }
  get seq(): number | null {
    return this.row.seq;
  }
  get instructionId(): string {
    return this.row.instruction_id;
  }
  get idempotencyKey(): string {
    return this.row.idempotency_key;
  }
  get tenantId(): string | null {
    return this.row.tenant_id;
  }
  get destination(): string | null {
    return this.row.destination;
  }
  get tryNo(): number {
    return this.row.tries + 1;
  }
  get uncertain(): boolean {
    return this.row.uncertain;
  }
  /** The id begins with the milliseconds at which the row was made. */
  get createdAt(): Date {
    return new Date(Number.parseInt(this.row.outbox_id.slice(0, 8) + this.row.outbox_id.slice(9, 13), 16));
  }
}
