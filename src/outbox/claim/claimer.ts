/**
 * Decides what to claim next, how much of it, and where to start scanning.
 *
 * Owns: one stream's claiming pace. Claims start small and double while their rows are finished quickly, so that a fast rail
 * is fed in large sets and a slow one never gets more than it can send within its lease.
 * Does not own: when to claim (the relay), or what happens to the rows.
 */
import { call } from "../../db/call.ts";
import { type Moment, thisMoment } from "./elapsed.ts";
import type { ClaimedRow } from "./message.ts";
import type { InFlight } from "./places.ts";
import type { HeldConnection } from "../../db/held-connection.ts";
import type { Stream } from "./streams.ts";

const firstClaimRows = 200;
const quickMs = 250;
const slowMs = 2_000;
/** Covers rows that were stamped just before the last scan and committed just after it. */
const overlapMs = 1_000;
/** How many bytes of payload one claim may read into memory. */
const maxClaimBytes = 8 * 1024 * 1024;

/** What a claim gets: what is in flight, and which rails the relay has, by number. */
export interface Told extends InFlight {
  readonly rails: readonly number[];
}

export class Claimer {
  readonly stream: Stream;
  readonly #maxRows: number;
  readonly #minRows: number;
  #rows: number;
  #runLength: number;
  /** When the last scan began that left nothing due behind it, by this process's monotonic clock. */
  #drainedAtMs: number | undefined;
  #lookedEverywhereAtMs = -Infinity;
  #everywhereEveryMs = 500;
  #emptyLooks = 0;
  #lookedAtMs = -Infinity;
  /** Rows claimed and not settled yet. */
  unsettled = 0;
  #underWay = 0;
  /** The last claim was full and its rows were sent quickly: another may be read while this one is being unpacked. */
  #rich = false;
  #quick = false;
  /** There may be something due. */
  hot = true;

  constructor(stream: Stream, maxRows: number, concurrency: number) {
    this.stream = stream;
    this.#maxRows = maxRows;
    this.#minRows = Math.min(maxRows, Math.max(10, concurrency));
    this.#rows = Math.min(maxRows, Math.max(firstClaimRows, this.#minRows));
    this.#runLength = stream.runLength;
  }

  /** Whether another claim may begin: one is being sent while the next is being read. */
  get hasRoom(): boolean {
    return this.unsettled + this.#underWay * this.#rows < 2 * this.#rows;
  }

  /** Whether a second claim may run at the same time: while rows go out as fast as they come in, and more are waiting. */
  get hasRoomAhead(): boolean {
    return this.#rich && this.#quick && this.unsettled + this.#underWay * this.#rows < 3 * this.#rows;
  }

  /** How long to leave due rows alone that the last scans could not get because others hold them. */
  get restMs(): number {
    if (this.#emptyLooks < 2) return 0;
    const pauseMs = Math.min(500, 25 * 2 ** (this.#emptyLooks - 2));
    return Math.max(0, this.#lookedAtMs + pauseMs - performance.now());
  }

  /** Claims what is due. Scans the recent end first, and everything when that is empty or it is time. */
  async claim(
    connection: HeldConnection,
    relayId: number,
    prepare: boolean,
    inFlight: Told,
  ): Promise<{ rows: ClaimedRow[]; claimedAt: Moment }> {
    this.hot = false;
    const claimedAt = thisMoment();
    const startedAtMs = claimedAt.steadyMs;
    const due = startedAtMs - this.#lookedEverywhereAtMs >= this.#everywhereEveryMs;
    const recent =
      due || this.#drainedAtMs === undefined ? null : Math.ceil(startedAtMs - this.#drainedAtMs + overlapMs);
    let rows: ClaimedRow[];
    this.#underWay += 1;
    try {
      rows = await this.#read(connection, relayId, prepare, inFlight, recent);
      if (rows.length === 0 && recent !== null) rows = await this.#read(connection, relayId, prepare, inFlight, null);
    } finally {
      this.#underWay -= 1;
    }
    this.unsettled += rows.length;
    this.#emptyLooks = rows.length === 0 ? this.#emptyLooks + 1 : 0;
    this.#lookedAtMs = startedAtMs;
    return { rows, claimedAt };
  }

  async #read(
    connection: HeldConnection,
    relayId: number,
    prepare: boolean,
    inFlight: Told,
    sinceMs: number | null,
  ): Promise<ClaimedRow[]> {
    const startedAtMs = performance.now();
    const lanes = Math.max(1, Math.ceil(this.#rows / this.#runLength));
    const rows: ClaimedRow[] = await connection.use((db) =>
      call(
        db,
        "outbox.claim",
        {
          p_relay_id: relayId,
          p_stream_id: this.stream.id,
          p_max_rows: this.#rows,
          p_max_lanes: lanes,
          p_since_ms: sinceMs,
          p_max_bytes: maxClaimBytes,
          p_in_flight: inFlight,
        },
        { prepare },
      ),
    );
    const found = this.stream.ordered ? putInOrder(rows) : rows.length;
    const full = found >= (this.stream.ordered ? lanes : this.#rows);
    this.#rich = full;
    // Rows bound for destinations come in shares, so a claim that returned less than it might does not show what is left.
    const shared =
      inFlight.free === 0 ||
      rows.some((row) => row.destination !== null) ||
      Object.keys(inFlight.destinations).length > 0;
    if (full) this.hot = true;
    else if (!shared) this.#drainedAtMs = startedAtMs;
    if (sinceMs === null && !full) {
      this.#lookedEverywhereAtMs = startedAtMs;
      // A full scan is expensive while an old transaction keeps dead entries in the index; then it is done less often.
      this.#everywhereEveryMs = Math.min(5_000, Math.max(500, (performance.now() - startedAtMs) * 100));
    }
    if (rows.length > 0 && this.stream.ordered) this.#runLength = Math.max(1, rows.length / found);
    return rows;
  }

  /** Rows were settled: rows that were held back for them may be claimed now. */
  settled(rows: number): void {
    this.unsettled -= rows;
    this.#emptyLooks = 0;
  }

  /** Adapts to how long the rows of a claim took to send. */
  learn(rows: number, tookMs: number): void {
    this.#quick = tookMs < quickMs;
    if (tookMs > slowMs) this.#rows = Math.max(this.#minRows, Math.ceil(this.#rows / 2));
    else if (tookMs < quickMs && rows >= this.#rows / 2) this.#rows = Math.min(this.#maxRows, this.#rows * 2);
  }
}

/**
 * The database returns rows in sending order; this checks it, so that a query plan can never change the order. Returns how
 * many lanes there are.
 */
function putInOrder(rows: ClaimedRow[]): number {
  const rank = new Map<number | null, number>();
  let ordered = true;
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    if (before?.lane_id === row.lane_id) ordered &&= Number(before.seq) < Number(row.seq);
    else if (rank.has(row.lane_id)) ordered = false;
    else rank.set(row.lane_id, rank.size);
  }
  if (!ordered) {
    rows.sort((a, b) => Number(rank.get(a.lane_id)) - Number(rank.get(b.lane_id)) || Number(a.seq) - Number(b.seq));
  }
  return rank.size;
}
