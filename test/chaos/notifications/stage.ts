/**
 * The stage on which notifications are hurt: a Postgres that can crash, relays with dispatchers and a server as processes, and the sandbox's
 * mail server, Postal and Slack as a process that nobody kills. Time passes by making rows older.
 *
 * Owns: putting it up, taking it down, killing and starting the parts again. Does not own: what is done to whom, nor the verdict (oracle.ts).
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { isRetryableConnectionError } from "../../../src/db/errors.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { valueTypes } from "../../../src/db/values/values.ts";
import { startAsked, type AskedProcess } from "../asked-process.ts";
import { CrashablePostgres } from "../crashable-postgres.ts";
import { startFront, type Front } from "../provisioning/front.ts";
import { startPart, type PartProcess } from "../provisioning/part-process.ts";
import { ownCodeDir } from "../settings.ts";
import { crowdOf, password, people, secretKey, type Somebody } from "./directory.ts";
import type { Acts } from "./outside-child.ts";
import type { RelayTrap } from "./relay-child.ts";

export interface StageOptions {
  /** The folder whose code is put to the test. Default: our own. */
  readonly codeDir?: string;
  /** What is done to the database after it was migrated. */
  readonly afterMigration?: string;
  /** A server to use for several stages. */
  readonly postgres?: CrashablePostgres;
  /** How many relays there are: the first sends mail by SMTP, the next by Postal, and so on. Default: 1. */
  readonly relays?: number;
  /** Default: 24. */
  readonly people?: number;
}

export interface RelayStart {
  readonly trap?: RelayTrap | undefined;
  /** It reaches nobody: every connection is refused. */
  readonly unplugged?: boolean;
  readonly place?: number;
}

interface Parts {
  readonly postgres: CrashablePostgres;
  readonly url: string;
  readonly front: Front;
  readonly outside: AskedProcess<Acts>;
  readonly smtpUrl: string;
  readonly options: StageOptions;
}

const poolSize = 12;
/** A port on which nobody listens. */
const nowhere = "127.0.0.1:9";

export class NotificationsStage {
  readonly postgres: CrashablePostgres;
  readonly outside: AskedProcess<Acts>;
  readonly url: string;
  readonly everybody: readonly Somebody[];
  readonly #front: Front;
  readonly #smtpUrl: string;
  readonly #options: StageOptions;
  readonly #pool: Pool;
  readonly #relays: (PartProcess | undefined)[];
  readonly #turns = new Map<number | "server", Promise<void>>();
  #server: PartProcess | undefined;

  private constructor({ postgres, url, front, outside, smtpUrl, options }: Parts) {
    this.postgres = postgres;
    this.url = url;
    this.outside = outside;
    this.everybody = crowdOf(options.people ?? 24);
    this.#front = front;
    this.#smtpUrl = smtpUrl;
    this.#options = options;
    this.#relays = Array.from<undefined>({ length: options.relays ?? 1 });
    this.#pool = new Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: 10_000,
      options: `-c headroom.secret_key=${secretKey}`,
    });
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  static async open(options: StageOptions = {}): Promise<NotificationsStage> {
    await using undo = new AsyncDisposableStack();
    const codeDir = options.codeDir ?? ownCodeDir;
    const postgres = options.postgres ?? (await CrashablePostgres.start());
    if (options.postgres === undefined) undo.defer(() => postgres.close());
    const url = await postgres.createDatabase(`notifications_${randomBytes(4).toString("hex")}`);
    const front = await startFront();
    undo.defer(() => front.close());
    const config = { headroomUrl: front.url, people: options.people ?? 24 };
    const outside = await startAsked<Acts>(codeDir, "notifications/outside-child.ts", config);
    undo.defer(() => outside.close());
    await prepare(url, await outside.ask("postalKey"), options);
    const smtpUrl = await outside.ask("smtpUrl");
    const stage = new NotificationsStage({ postgres, url, front, outside, smtpUrl, options });
    await stage.startServer();
    undo.move();
    return stage;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays.map((relay) => relay?.kill()), this.#server?.kill()]);
    await this.outside.close();
    await Promise.all([this.#front.close(), this.#pool.end()]);
    if (this.#options.postgres === undefined) await this.postgres.close();
  }

  // --- the parts

  startRelay({ trap, unplugged = false, place = 0 }: RelayStart = {}): Promise<void> {
    return this.#inTurn(place, async () => {
      await this.#relays[place]?.kill();
      await this.#relayGone(place);
      this.#relays[place] = await startPart(this.#codeDir, "../notifications/relay-child.ts", {
        connectionString: this.#urlAs("headroom_executor"),
        sandboxUrl: unplugged ? `http://${nowhere}` : this.outside.url,
        smtpUrl: unplugged ? `smtp://${nowhere}` : this.#smtpUrl,
        mailBy: place % 2 === 0 ? "smtp" : "postal",
        trap,
      });
    });
  }

  /** What a dead relay held is free at once: nobody can send it any more. */
  async #relayGone(place: number): Promise<void> {
    const dead = this.#relays[place];
    if (dead === undefined) return;
    await dead.gone;
    this.#relays[place] = undefined;
    const past = "update outbox.claims set lease_until = now() - interval '1 second' where relay_id = $1";
    await this.rows(past, [dead.number]).catch((error: unknown) => {
      // Without a database the lease runs out by itself.
      if (!isRetryableConnectionError(error)) throw error;
    });
  }

  async killRelay(place = 0): Promise<void> {
    await this.#relays[place]?.kill();
  }

  startServer(): Promise<void> {
    return this.#inTurn("server", async () => {
      await this.#server?.kill();
      this.#server = undefined;
      const started = await startPart(this.#codeDir, "../payments/server-child.ts", {
        connectionString: this.#urlAs("headroom_gateway"),
        secretKey,
        checkoutOrigin: "https://checkout.example",
      });
      this.#server = started;
      this.#front.pointTo(started.number);
    });
  }

  async killServer(): Promise<void> {
    await this.#server?.kill();
  }

  /** Starts what has died, without traps. */
  async startWhatIsGone(): Promise<void> {
    const relays = this.#relays.map(async (_, place) => {
      await this.#turns.get(place);
      if (!isUp(this.#relays[place])) await this.startRelay({ place });
    });
    const server = async (): Promise<void> => {
      await this.#turns.get("server");
      if (!isUp(this.#server)) await this.startServer();
    };
    const started = await Promise.allSettled([...relays, server()]);
    for (const each of started) if (each.status === "rejected") throw each.reason;
  }

  /** One start of a part at a time, whoever asks for it. */
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

  get relayCount(): number {
    return this.#relays.length;
  }

  // --- time

  /** What is held is due, as if the night were over; or some of it. */
  async hurryHeld(share = 1): Promise<void> {
    await this.rows(
      `update notify.parts p set due_at = clock_timestamp() where (p.notification_id, p.channel) in (
         select h.notification_id, h.channel from notify.parts h
          where h.state = 'held' and h.due_at > clock_timestamp() and random() < $1 for update skip locked)`,
      [share],
    );
  }

  /** What waits in the outbox is due, and destinations that were given up are tried again. */
  async hurryOutbox(): Promise<void> {
    await this.rows("update outbox.pending_unordered set due = now() where due > now()");
    await this.rows(
      "update outbox.gates set open_until = now(), next_slot_at = now(), probe_until = null where greatest(open_until, next_slot_at) > now()",
    );
  }

  /** What the archive says happened so much earlier. */
  async age(by: string): Promise<void> {
    const client = await this.connect();
    try {
      await client.query("set session_replication_role = replica");
      await client.query("update outbox.attempts set recorded_at = recorded_at - $1::interval", [by]);
    } finally {
      await client.end();
    }
  }

  // --- the database

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: valueTypes });
    return rows as T[];
  }

  async connect(): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  #urlAs(role: string): string {
    return Object.assign(new URL(this.url), { username: role, password }).href;
  }

  get #codeDir(): string {
    return this.#options.codeDir ?? ownCodeDir;
  }
}

function isUp(part: PartProcess | undefined): boolean {
  return part?.isGone() === false;
}

async function prepare(url: string, postalKey: string, options: StageOptions): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // A process that is killed loses nothing that the system has been handed: what would be waited for is the disk.
    await client.query("alter system set fsync = off");
    await client.query("select pg_reload_conf()");
    await migrate(client, { sqlDir: join(options.codeDir ?? ownCodeDir, "sql") });
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await client.query(people(crowdOf(options.people ?? 24)));
    await client.query("select headroom.set_secret('POSTAL_WEBHOOK_PUBLIC_KEY', $1)", [postalKey]);
    if (options.afterMigration !== undefined) await client.query(options.afterMigration);
  } finally {
    await client.end();
  }
}
