/**
 * The stage on which money is hurt: a Postgres that can crash, relays and a server as processes, and the sandbox's Stripe as a process that
 * nobody kills. Time passes by making rows older.
 *
 * Owns: putting it up, taking it down, killing and starting the parts again. Does not own: what is done to whom, nor the verdict (oracle.ts).
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { isRetryableConnectionError } from "../../../src/db/errors.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { valueTypes } from "../../../src/db/values/values.ts";
import { CrashablePostgres } from "../crashable-postgres.ts";
import { startFront, type Front } from "../provisioning/front.ts";
import { startPart, type PartProcess } from "../provisioning/part-process.ts";
import { ownCodeDir } from "../settings.ts";
import { callbackSecret, password, people, secretKey, webhookSecret } from "./directory.ts";
import type { RelayTrap } from "./relay-child.ts";
import type { ServerTrap } from "./server-child.ts";
import { startStripe, type StripeProcess } from "./stripe-process.ts";
import { startWorks, type Run, type Works } from "./works.ts";

export interface StageOptions {
  /** The folder whose code is put to the test. Default: our own. */
  readonly codeDir?: string;
  /** What is done to the database after it was migrated. */
  readonly afterMigration?: string;
  /** A server to use for several stages. */
  readonly postgres?: CrashablePostgres;
  /** How many relays there are. Default: 1. */
  readonly relays?: number;
}

export interface Wanted {
  readonly customer: string;
  readonly size: string;
  readonly quantity: number;
}

export interface Offer {
  readonly id: string;
  /** What the customer's link holds. */
  readonly token: string;
}

interface Parts {
  readonly postgres: CrashablePostgres;
  readonly url: string;
  readonly front: Front;
  readonly works: Works;
  readonly stripe: StripeProcess;
  readonly options: StageOptions;
}

const poolSize = 10;

export class PaymentsStage {
  readonly postgres: CrashablePostgres;
  readonly stripe: StripeProcess;
  readonly works: Works;
  readonly url: string;
  /** Offers whose time was made to end, and when it did. */
  readonly deadlines = new Map<string, Date>();
  readonly #front: Front;
  readonly #options: StageOptions;
  readonly #pool: Pool;
  readonly #relays: (PartProcess | undefined)[];
  readonly #turns = new Map<number | "server", Promise<void>>();
  readonly #strangers = new Set<Client>();
  #server: PartProcess | undefined;

  private constructor({ postgres, url, front, works, stripe, options }: Parts) {
    this.postgres = postgres;
    this.url = url;
    this.stripe = stripe;
    this.works = works;
    this.#front = front;
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

  static async open(options: StageOptions = {}): Promise<PaymentsStage> {
    await using undo = new AsyncDisposableStack();
    const codeDir = options.codeDir ?? ownCodeDir;
    const postgres = options.postgres ?? (await CrashablePostgres.start());
    if (options.postgres === undefined) undo.defer(() => postgres.close());
    const url = await postgres.createDatabase(`payments_${randomBytes(4).toString("hex")}`);
    const front = await startFront();
    undo.defer(() => front.close());
    const works = await startWorks();
    undo.defer(() => works.close());
    await prepare(url, front.url, options);
    const stripe = await startStripe(codeDir, { headroomUrl: front.url, webhookSecret });
    undo.defer(() => stripe.close());
    const stage = new PaymentsStage({ postgres, url, front, works, stripe, options });
    await stage.startServer();
    undo.move();
    return stage;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays.map((relay) => relay?.kill()), this.#server?.kill()]);
    await this.stripe.close();
    await Promise.all([...this.#strangers].map((client) => client.end().catch(() => undefined)));
    await Promise.all([this.works.close(), this.#front.close(), this.#pool.end()]);
    if (this.#options.postgres === undefined) await this.postgres.close();
  }

  // --- the parts

  /** With a trap it kills itself there; `relayGone` resolves then. */
  startRelay(trap?: RelayTrap, place = 0): Promise<void> {
    return this.#inTurn(place, async () => {
      await this.#relays[place]?.kill();
      await this.relayGone(place);
      this.#relays[place] = await startPart(this.#codeDir, "../payments/relay-child.ts", {
        connectionString: this.#urlAs("headroom_executor"),
        stripeUrl: this.stripe.url,
        worksUrl: this.works.url,
        trap,
      });
    });
  }

  /** Resolves when the relay has died. What it held is free at once: nobody can send it any more. */
  async relayGone(place = 0): Promise<void> {
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

  startServer(trap?: ServerTrap): Promise<void> {
    return this.#inTurn("server", async () => {
      await this.#server?.kill();
      this.#server = undefined;
      const started = await startPart(this.#codeDir, "../payments/server-child.ts", {
        connectionString: this.#urlAs("headroom_gateway"),
        secretKey,
        checkoutOrigin: new URL(this.stripe.url).origin,
        trap,
      });
      this.#server = started;
      this.#front.pointTo(started.number);
    });
  }

  async serverGone(): Promise<void> {
    await this.#server?.gone;
  }

  async killServer(): Promise<void> {
    await this.#server?.kill();
  }

  /** Starts what has died, without traps. */
  async startWhatIsGone(): Promise<void> {
    const relays = this.#relays.map(async (_, place) => {
      await this.#turns.get(place);
      if (!isUp(this.#relays[place])) await this.startRelay(undefined, place);
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

  // --- requests and customers

  /** Requests that only wait for their customers. */
  async offer(wanted: readonly Wanted[]): Promise<Offer[]> {
    const [row] = await this.rows<{ offers: Offer[] }>("select chaos_offer($1) as offers", [JSON.stringify(wanted)]);
    return row?.offers ?? [];
  }

  async begin({ token }: Offer): Promise<string> {
    const [row] = await this.rows<{ id: string }>("select public.begin_checkout($1) ->> 'checkout_id' as id", [token]);
    return row?.id ?? "";
  }

  /** As a browser does, through the server; whatever it answers. */
  async beginByPage({ token }: Offer): Promise<number> {
    const body = new URLSearchParams({ decision: "pay" });
    const answer = await fetch(`${this.#front.url}/confirm/${token}`, { method: "POST", body });
    await answer.arrayBuffer();
    return answer.status;
  }

  async decline({ token }: Offer): Promise<void> {
    await this.rows("select public.decide_by_token($1, 'decline')", [token]);
  }

  async cancel({ id }: Pick<Offer, "id">): Promise<void> {
    const apply = `select capacity.decide($1, 'CANCEL_APPROVED', row('user', 'rita', 'test')::capacity.actor, '{"reason": "because"}')`;
    await this.rows(apply, [id]);
  }

  /** The time of an offer is over, or of all; the next sweep ends it. */
  async pastDeadline(id?: string): Promise<void> {
    const ended = await this.rows<{ id: string; deadline: Date }>(
      `update capacity.requests set next_deadline_at = now() - interval '1 second'
        where id = coalesce($1, id) and state = 'CUSTOMER_CONFIRMATION_REQUIRED' and next_deadline_at > now()
       returning id, next_deadline_at as deadline`,
      [id ?? null],
    );
    for (const each of ended) this.deadlines.set(each.id, each.deadline);
  }

  /** The page that is open has not long to live, so that the next one who wants to pay gets another. */
  async nearlyOver(requestId: string): Promise<void> {
    await this.rows(
      `update billing.checkouts set expires_at = now() + interval '1 minute' where request_id = $1 and state in ('asked', 'open')`,
      [requestId],
    );
  }

  /** A run reports how it ended, signed as the workflow's script signs. False: it was told to say it again later. */
  async report(run: Run, signal: "succeeded" | "failed"): Promise<boolean> {
    const body = JSON.stringify({
      id: randomUUID(),
      workspace: "acme",
      job_id: run.jobId,
      task: run.task,
      attempt: run.attempt,
      run_id: run.id,
      run_attempt: 1,
      signal,
      ...(signal === "failed" ? { error: "on purpose" } : {}),
    });
    const stamp = String(Math.floor(Date.now() / 1000));
    const mac = createHmac("sha256", callbackSecret).update(`v1:${stamp}:${body}`).digest("hex");
    const headers = { "x-headroom-timestamp": stamp, "x-headroom-signature": `v1=${mac}` };
    const [answer] = await this.rows<{ code: string | null }>(
      `select public.handle_provisioning_callback($1) ->> 'code' as code
         from set_config('request.headers', $2, true) h where h is not null`,
      [body, JSON.stringify(headers)],
    );
    return answer?.code !== "too_soon";
  }

  // --- time

  /** What waits in the outbox is due, and destinations that were given up are tried again. */
  async hurryOutbox(): Promise<void> {
    await this.rows("update outbox.pending set due = now() where due > now()");
    await this.rows("update outbox.heads set due = now() where due > now() and claim_id is null");
  }

  /** The sweep looks at all money that is not settled, as if hours had passed. */
  async hurryMoney(): Promise<void> {
    for (const table of ["checkouts", "payments", "refunds", "subscriptions"]) {
      const which = table === "subscriptions" ? "and kind = 'recurring'" : "";
      await this.rows(
        `update billing.${table} set next_look_at = now() where ctid = any (array(
           select ctid from billing.${table} where next_look_at > now() ${which} for update skip locked))`,
      );
    }
    await this.rows(
      "update provisioning.jobs set next_look_at = now() where id in (select id from provisioning.jobs for update skip locked)",
    );
    await this.rows("update capacity.expiry_holds set look_again_at = now()");
    await this.rows("delete from capacity.timer_failures");
  }

  /** Calls that were given up are longer ago than Stripe would work on one. */
  async ageDead(): Promise<void> {
    const client = await this.connect();
    try {
      await client.query("set session_replication_role = replica");
      await client.query(
        `update outbox.attempts set recorded_at = recorded_at - interval '10 minutes'
          where outbox_id in (select d.outbox_id from outbox.dead d) and recorded_at > now() - interval '6 minutes'`,
      );
    } finally {
      await client.end();
    }
  }

  /** Runs the timers until they find nothing more; what failed of it. */
  async sweep(most = 20): Promise<string[]> {
    const failed: string[] = [];
    for (let round = 0; round < most; round += 1) {
      const [swept] = await this.rows<{ failed: unknown[]; more: boolean }>(
        "select t -> 'failed' as failed, (t ->> 'more')::boolean as more from public.run_capacity_request_timers(400) t",
      );
      failed.push(...(swept?.failed ?? []).map((each) => JSON.stringify(each)));
      if (swept?.more !== true) break;
    }
    return failed;
  }

  // --- the database

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: valueTypes });
    return rows as T[];
  }

  connect(): Promise<Client> {
    return connectTo(this.url);
  }

  /** Somebody with a login of their own. The stage ends them with itself. */
  async stranger(login: string): Promise<Client> {
    const client = await connectTo(this.#urlAs(login));
    this.#strangers.add(client);
    client.once("end", () => this.#strangers.delete(client));
    return client;
  }

  #urlAs(role: string): string {
    return Object.assign(new URL(this.url), { username: role, password }).href;
  }

  get #codeDir(): string {
    return this.#options.codeDir ?? ownCodeDir;
  }
}

async function connectTo(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

function isUp(part: PartProcess | undefined): boolean {
  return part?.isGone() === false;
}

async function prepare(url: string, headroomUrl: string, options: StageOptions): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // A process that is killed loses nothing that the system has been handed: what would be waited for is the disk.
    await client.query("alter system set fsync = off");
    await client.query("select pg_reload_conf()");
    await migrate(client, { sqlDir: join(options.codeDir ?? ownCodeDir, "sql") });
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await client.query(people(headroomUrl));
    if (options.afterMigration !== undefined) await client.query(options.afterMigration);
  } finally {
    await client.end();
  }
}
