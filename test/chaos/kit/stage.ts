/**
 * The stage of a subject: a Postgres that can crash, relays and a server as processes, and a front for the server. Time passes by making
 * rows older.
 *
 * Owns: starting and stopping it, and killing and restarting the parts. Does not own: parts outside Headroom, the faults
 * and their targets, nor the verdict.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client, type Pool } from "pg";
import { isRetryableConnectionError } from "../../../src/db/errors.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { valueTypes } from "../../../src/db/values/values.ts";
import { keepFewPartitions } from "../../helpers/clusters.ts";
import { PatientPool } from "../../helpers/patient-pool.ts";
import { CrashablePostgres } from "./crashable-postgres.ts";
import { within } from "./eventually.ts";
import { startFront, type Front } from "./front.ts";
import { startPart, type PartProcess } from "./part-process.ts";
import { ownCodeDir } from "./patch.ts";
import type { RelayTrap } from "./relay-part.ts";
import { password, secretKey } from "./secrets.ts";
import type { ServerTrap } from "./server-child.ts";

export interface StageOptions {
  /** The folder whose code is tested. Default: our own. */
  readonly codeDir?: string;
  /** Prepares the database after it was migrated. */
  readonly afterMigration?: string;
  /** A server to use for several stages. */
  readonly postgres?: CrashablePostgres;
  /** How many relays there are. Default: 1. */
  readonly relays?: number;
}

/** The name of the stage's own connections, so that nobody mistakes idle ones for a part's. */
const stageName = "chaos stage";
const poolSize = 12;

/** A database of this code, with logins for the parts. `fill` creates what the subject needs in it. */
export async function prepareDatabase(
  url: string,
  { codeDir = ownCodeDir, afterMigration }: StageOptions,
  fill: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = await connectTo(url);
  try {
    // A killed process loses nothing that it has passed to the operating system; fsync would only wait for the disk.
    await client.query("alter system set fsync = off");
    await client.query("select pg_reload_conf()");
    await migrate(client, { sqlDir: join(codeDir, "sql") });
    await client.query(keepFewPartitions);
    for (const role of ["headroom_gateway", "headroom_executor"])
      await client.query(`alter role ${role} login password '${password}'`);
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await fill(client);
    if (afterMigration !== undefined) await client.query(afterMigration);
  } finally {
    await client.end();
  }
}

export async function connectTo(connectionString: string, applicationName = stageName): Promise<Client> {
  const client = new Client({ connectionString, application_name: applicationName });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Keeps its connections, because a query takes many times longer in a new backend than in one that has run it before. */
export function openPool(connectionString: string, max: number): Pool {
  const pool = new PatientPool({
    connectionString,
    max,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 10_000,
    application_name: stageName,
    options: `-c headroom.secret_key=${secretKey}`,
  });
  // A connection from before a crash is useless afterwards, and is replaced.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

export function urlAs(url: string, role: string): string {
  return Object.assign(new URL(url), { username: role, password }).href;
}

/** Everything that exists before the parts start. */
export interface Ground {
  readonly codeDir: string;
  readonly relays: number;
  readonly postgres: CrashablePostgres;
  readonly url: string;
  readonly front: Front;
}

export async function layGround(
  name: string,
  options: StageOptions,
  undo: AsyncDisposableStack,
  fill: (client: Client, front: Front) => Promise<unknown>,
): Promise<Ground> {
  const postgres = options.postgres ?? (await CrashablePostgres.start());
  if (options.postgres === undefined) undo.defer(() => postgres.close());
  const url = await postgres.createDatabase(`${name}_${randomBytes(4).toString("hex")}`);
  const front = await startFront();
  undo.defer(() => front.close());
  await prepareDatabase(url, options, (client) => fill(client, front));
  return { codeDir: options.codeDir ?? ownCodeDir, relays: options.relays ?? 1, postgres, url, front };
}

interface Part {
  readonly process: PartProcess;
  /** Nothing is wrong with it. */
  readonly isWell: boolean;
}

/** `RelayHow` and `ServerHow` say what is wrong with a part: at least a trap, at which it kills itself. */
export abstract class Stage<ServerHow, RelayHow = RelayTrap> {
  readonly postgres: CrashablePostgres;
  readonly url: string;
  readonly front: Front;
  readonly codeDir: string;
  readonly #pool: Pool;
  readonly #relays: (Part | undefined)[];
  readonly #turns = new Map<number | "server", Promise<void>>();
  #server: Part | undefined;
  #undo: AsyncDisposableStack | undefined;

  protected constructor({ codeDir, relays, postgres, url, front }: Ground) {
    this.postgres = postgres;
    this.url = url;
    this.front = front;
    this.codeDir = codeDir;
    this.#relays = Array.from<undefined>({ length: relays });
    this.#pool = openPool(url, poolSize);
  }

  /** The program of a relay, below test/chaos, and its settings besides the connection. */
  protected abstract relayPart(how: RelayHow | undefined, place: number): readonly [program: string, config: object];
  /** The settings of the server besides the connection. */
  protected abstract serverConfig(how: ServerHow | undefined): {
    trap: ServerTrap | undefined;
    checkoutOrigin?: string;
  };

  /** Starts the server, and from now on owns the resources of `undo`. */
  protected async putUp(undo: AsyncDisposableStack): Promise<this> {
    undo.defer(async () => {
      await Promise.all([...this.#relays, this.#server].map(async (part) => part?.process.kill()));
      await this.#pool.end();
    });
    await this.startServer();
    this.#undo = undo.move();
    return this;
  }

  async close(): Promise<void> {
    await this.#undo?.disposeAsync();
  }

  // --- the parts

  get relayCount(): number {
    return this.#relays.length;
  }

  /** With a trap it kills itself there; `relayGone` resolves then. A healthy running one is left alone. */
  startRelay(how?: RelayHow, place = 0): Promise<void> {
    return this.#inTurn(place, async () => {
      const current = this.#relays[place];
      if (how === undefined && current?.isWell === true && !current.process.isGone()) return;
      await this.killRelay(place);
      await this.relayGone(place);
      const [program, config] = this.relayPart(how, place);
      const connectionString = urlAs(this.url, "headroom_executor");
      const process = await startPart(this.codeDir, program, { connectionString, ...config });
      this.#relays[place] = { process, isWell: how === undefined };
    });
  }

  /** Resolves when the relay has died. Its claims are released immediately, because it can no longer send them. */
  async relayGone(place = 0): Promise<void> {
    const dead = this.#relays[place]?.process;
    if (dead === undefined) return;
    await within(dead.gone, "the relay to die");
    this.#relays[place] = undefined;
    const past = "update outbox.claims set lease_until = now() - interval '1 second' where relay_id = $1";
    await this.rows(past, [dead.ready]).catch((error: unknown) => {
      // Without a database the lease expires on its own.
      if (!isRetryableConnectionError(error)) throw error;
    });
  }

  async killRelay(place = 0): Promise<void> {
    await this.#relays[place]?.process.kill();
  }

  /** As startRelay. */
  startServer(how?: ServerHow): Promise<void> {
    return this.#inTurn("server", async () => {
      const current = this.#server;
      if (how === undefined && current?.isWell === true && !current.process.isGone()) return;
      await this.killServer();
      this.#server = undefined;
      const connectionString = urlAs(this.url, "headroom_gateway");
      const config = { connectionString, secretKey, ...this.serverConfig(how) };
      const process = await startPart(this.codeDir, "kit/server-child.ts", config);
      this.#server = { process, isWell: how === undefined };
      this.front.pointTo(process.ready);
      void process.gone.then(() => this.front.pointTo(undefined));
    });
  }

  async serverGone(): Promise<void> {
    if (this.#server !== undefined) await within(this.#server.process.gone, "the server to die");
  }

  async killServer(): Promise<void> {
    await this.#server?.process.kill();
  }

  /** Restarts the dead parts, without traps. */
  async startWhatIsGone(): Promise<void> {
    const relays = this.#relays.map(async (_, place) => {
      await this.#turns.get(place);
      if (this.#relays[place]?.process.isGone() !== false) await this.startRelay(undefined, place);
    });
    const server = async (): Promise<void> => {
      await this.#turns.get("server");
      if (this.#server?.process.isGone() !== false) await this.startServer();
    };
    const started = await Promise.allSettled([...relays, server()]);
    for (const each of started) if (each.status === "rejected") throw each.reason;
  }

  /** Everything runs, and nothing is wrong with any part. */
  async startAll(): Promise<void> {
    for (let place = 0; place < this.relayCount; place += 1) await this.startRelay(undefined, place);
    await this.startServer();
  }

  /** One start of a part at a time, no matter who requests it. */
  async #inTurn(part: number | "server", work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(part) ?? Promise.resolve()).then(work);
    this.#turns.set(
      part,
      turn.catch(() => undefined),
    );
    await turn;
  }

  async crashPostgres(): Promise<void> {
    await this.postgres.crash();
    await this.postgres.restart();
  }

  async killBackends(): Promise<void> {
    await this.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and not (application_name = $1 and state = 'idle')
        order by random() limit 3`,
      [stageName],
    );
  }

  // --- time

  /** Makes waiting rows of the outbox due, and lets destinations that were given up be tried again. */
  async hurryOutbox(): Promise<void> {
    for (const table of ["pending", "pending_unordered"])
      await this.rows(`update outbox.${table} set due = now() where due > now()`);
    await this.rows("update outbox.heads set due = now() where due > now() and claim_id is null");
    await this.rows(
      "update outbox.gates set open_until = now(), next_slot_at = now(), probe_until = null where greatest(open_until, next_slot_at) > now()",
    );
  }

  // --- the database

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: valueTypes });
    return rows as T[];
  }

  /** The number of rows of a `from` clause. */
  async countOf(from: string): Promise<number> {
    const [row] = await this.rows<{ n: number }>(`select count(*)::integer as n from ${from}`);
    return row?.n ?? 0;
  }

  /** For queries with two columns: a name, and a count. */
  async counts(query: string): Promise<Readonly<Record<string, number>>> {
    const rows = await this.rows<{ what: string; n: number }>(`${query} order by 1`);
    return Object.fromEntries(rows.map(({ what, n }) => [what, n]));
  }

  connect(): Promise<Client> {
    return connectTo(this.url);
  }

  /** Changes rows that are append-only for everybody else. */
  async inArchive(text: string, values: readonly unknown[] = []): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query("begin");
      await client.query("set local session_replication_role = replica");
      await client.query(text, [...values]);
      await client.query("commit");
    } finally {
      client.release(client.getTransactionStatus() !== "I");
    }
  }
}
