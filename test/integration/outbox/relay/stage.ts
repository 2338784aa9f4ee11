/**
 * The stage of the relay's tests: a database, streams made for one test each, relays that are stopped at its end, and queries of the
 * archive.
 *
 * Relays log in as the role that is made for them (`headroom_executor`), producers as theirs; only setting up and inspecting use more
 * rights.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach } from "vitest";
import {
  createRelay,
  createStream,
  enqueue,
  enqueueMany,
  type EnqueueResult,
  type NewRow,
  type Rail,
  type Relay,
  type RelayLogEntry,
  type RelayOptions,
  type StreamSettings,
} from "../../../../src/outbox/index.ts";
import { registerRails } from "../../../../src/outbox/operate/register-rails.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/database.ts";

/** One line of the archive, as tests see it. */
export interface Line {
  readonly attempt_no: number;
  readonly state: string;
  readonly uncertain: boolean;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly rail_code: string | null;
  readonly rail_reference: string | null;
  readonly relay_id: number | null;
  readonly recorded_at: Date;
}

export interface StagedRelay extends Relay {
  readonly log: RelayLogEntry[];
}

export type StagedRow = Partial<NewRow> & { readonly stream: string; readonly rail: string };

export interface Stage {
  readonly db: TestDatabase;
  /** Makes a stream with a unique name, a short backoff and otherwise default settings. */
  stream(settings?: StreamSettings): Promise<string>;
  /** Declares rails before any relay does, so that rows can name them. */
  declare(...rails: Rail[]): Promise<void>;
  /** Lets a stream's rows use a guarded rail. */
  grant(stream: string, rail: Rail): Promise<unknown>;
  /** Adds a row in a separate transaction; omitted fields get made-up values. */
  enqueue(row: StagedRow): Promise<EnqueueResult>;
  enqueueMany(rows: readonly StagedRow[]): Promise<EnqueueResult[]>;
  /** A relay on this database, not started; stopped when the test ends. */
  relay(options: Partial<RelayOptions> & Pick<RelayOptions, "rails" | "streams">): StagedRelay;
  /** The same, started. */
  run(options: Partial<RelayOptions> & Pick<RelayOptions, "rails" | "streams">): Promise<StagedRelay>;
  lines(outboxId: string): Promise<Line[]>;
  states(outboxId: string): Promise<string[]>;
  /** Resolves when the row's last line is of that state. */
  untilState(outboxId: string, state: string, boundMs?: number): Promise<Line[]>;
  untilStates(outboxIds: readonly string[], state: string, boundMs?: number): Promise<void>;
  /** As the superuser, for setting up and inspecting. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

const defaultBoundMs = 15_000;

/** Polls until the expected answer comes; fails with the last answer otherwise. */
export async function until<T>(
  read: () => T | Promise<T>,
  test: (value: T) => boolean,
  what: string,
  boundMs: number = defaultBoundMs,
): Promise<T> {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const value = await read();
    if (test(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`Gave up waiting for ${what}; last seen: ${JSON.stringify(value)}`);
    await delay(10);
  }
}

/** Call it while tests are being collected, like createTestDatabase. */
export async function createStage(options: Parameters<typeof createTestDatabase>[0] = {}): Promise<Stage> {
  const db = await createTestDatabase(options);
  const relays = new Set<Relay>();
  afterEach(async () => {
    const open = [...relays];
    relays.clear();
    await Promise.all(open.map((relay) => relay.stop()));
  });
  const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const result = await db.superuser.pool.query<Row>(text, values);
    return result.rows;
  };
  const lines = (outboxId: string): Promise<Line[]> =>
    query<Line>(
      `select attempt_no, state, uncertain, error_code, coalesce(message, error_message) as error_message, rail_code, rail_reference, relay_id,
              recorded_at
         from outbox.attempts left join outbox.answers using (outbox_id, attempt_no) where outbox_id = $1 order by attempt_no`,
      [outboxId],
    );
  const untilState = (outboxId: string, state: string, boundMs?: number): Promise<Line[]> =>
    until(
      () => lines(outboxId),
      (found) => found.at(-1)?.state === state,
      `${outboxId} to be ${state}`,
      boundMs,
    );
  const relay: Stage["relay"] = ({ log, ...rest }) => {
    const entries: RelayLogEntry[] = [];
    const made = createRelay({
      ...(rest.pool === undefined ? { connectionString: db.as("headroom_executor").url } : {}),
      ...rest,
      log: (entry) => {
        entries.push(entry);
        log?.(entry);
      },
    });
    relays.add(made);
    return Object.assign(made, { log: entries });
  };
  return {
    db,
    query,
    lines,
    untilState,
    relay,
    states: async (outboxId) => (await lines(outboxId)).map((line) => line.state),
    async stream(settings = {}) {
      const name = `s${randomBytes(6).toString("hex")}`;
      await createStream(db.as("headroom_control").pool, name, { backoffBaseMs: 20, backoffFactor: 1, ...settings });
      return name;
    },
    async declare(...rails) {
      await registerRails(db.as("headroom_control").pool, rails);
    },
    grant: (stream, rail) => query("select outbox.grant_rail($1, $2)", [stream, rail.name]),
    enqueue: (row) => enqueue(db.as("headroom_ingest").pool, complete(row)),
    enqueueMany: (rows) => enqueueMany(db.as("headroom_ingest").pool, rows.map(complete)),
    async run(given) {
      const made = relay(given);
      await made.start();
      return made;
    },
    async untilStates(outboxIds, state, boundMs) {
      await until(
        async () => {
          const [row] = await query<{ n: number }>(
            `select count(*)::int as n from outbox.attempts a
              where a.outbox_id = any ($1) and a.state::text = $2
                and not exists (select from outbox.attempts b where b.outbox_id = a.outbox_id and b.attempt_no > a.attempt_no)`,
            [outboxIds, state],
          );
          return row?.n ?? 0;
        },
        (count) => count === outboxIds.length,
        `${outboxIds.length} rows to be ${state}`,
        boundMs,
      );
    },
  };
}

let made = 0;

function complete(row: StagedRow): NewRow {
  made += 1;
  return {
    key: `key-${made}`,
    instructionId: `instruction-${made}`,
    idempotencyKey: "only",
    payload: { number: made },
    ...row,
  };
}
