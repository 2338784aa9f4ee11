/**
 * Strangers with a login: an application that may only enqueue, and one that may only connect. They forge, refund payments of others,
 * occupy rows, flood, and lock everything they can. A refusal, or an act without effect, is correct; a success is a finding, or the oracle
 * finds it.
 *
 * Owns: what they try. Does not own: the verdict about money (oracle.ts).
 */
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { isRetryableConnectionError, sqlStateOf } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { Findings } from "../kit/findings.ts";
import type { Random } from "../kit/random.ts";
import { foreignRail, plainLogin, shopRail } from "./directory.ts";
import type { PaymentsStage } from "./stage.ts";

/** Names of advisory locks of earlier versions, and those of turns now: anyone who reads the code knows them. */
const lockNames = [
  "billing.found",
  "billing.reconcile",
  "capacity.problems:acme",
  "notify.follow_endings",
  "outbox.ensure_partitions",
  "outbox.gc",
  "outbox.forget_expired",
  "webhooks.raise_alerts",
  "webhooks.put_endpoint:acme",
  "billing.try_sighting",
  "billing.keep_reconciling",
  "capacity.tell_problems:acme",
];
const tables = [
  "outbox.heads",
  "outbox.pending",
  "outbox.gates",
  "outbox.streams",
  "headroom.turns",
  "billing.refunds",
  "capacity.requests",
];
const guardedRails = ["stripe", "github-actions", "email", "slack", "slack-interaction", "slack-webhook", "linear"];
const ourStreams = [
  "billing",
  "refunds",
  "subscriptions",
  "provisioning",
  "capacity",
  "people",
  "interactions",
  "self-service",
];
const ourDestinations = [
  "stripe",
  "slack:C1",
  "email:acme",
  "github:acme/infrastructure",
  "endpoint:1",
  "file:orders",
  "linear",
];

const refused = "nobody gets what is refused to them";

interface Row {
  readonly stream: string;
  readonly rail: string;
  readonly key?: string;
  readonly instruction?: string;
  readonly payload?: object;
  readonly captures?: object | null;
  readonly destination?: string | null;
}

export class Hostile {
  readonly #stage: PaymentsStage;
  readonly #random: Random;
  readonly #findings: Findings;
  readonly #count: (what: string) => void;

  constructor(stage: PaymentsStage, random: Random, findings: Findings, count: (what: string) => void) {
    this.#stage = stage;
    this.#random = random;
    this.#findings = findings;
    this.#count = count;
  }

  readonly acts = {
    /** A refund of an existing payment, a dispatch, a mail: through each entry point. */
    "a guarded rail": (client: Client) => this.#guardedRail(client),
    "a stream of ours": (client: Client) => this.#ourStream(client),
    "a destination of ours": (client: Client) =>
      this.#isRefused(
        "a destination of ours",
        this.#enqueue(client, {
          stream: "notifications",
          rail: shopRail,
          destination: this.#random.pick(ourDestinations),
        }),
      ),
    "one key on two rails": (client: Client) => this.#oneKeyTwice(client),
    /** Claims in a forged row that an unpaid offer was paid. */
    "a forged payment": (client: Client) => this.#forge(client),
    "a row in the way": (client: Client) => this.#inTheWay(client),
    "a flood of destinations": (client: Client) => this.#flood(client),
    "an open transaction": (client: Client) => this.#openTransaction(client),
    "locks of rows and tables": (client: Client) => this.#lock(client),
  } as const;

  /** One random act. */
  async act(): Promise<void> {
    const name = this.#random.pick(Object.keys(this.acts) as (keyof Hostile["acts"])[]);
    this.#count(`hostile: ${name}`);
    const client = await this.#stage.stranger("headroom_ingest");
    try {
      await this.acts[name](client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Takes every advisory lock with a known name, repeatedly until the signal. */
  async holdLocks(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const client = await this.#stage.stranger(plainLogin).catch(() => undefined);
      if (client !== undefined) {
        await takeLocks(client).catch(() => undefined);
        this.#count("hostile: advisory locks");
        const gone = new AbortController();
        client.once("end", () => gone.abort());
        await pause(this.#random.between(3_000, 8_000), AbortSignal.any([over, gone.signal]));
        await client.end().catch(() => undefined);
      }
      await pause(50, over);
    }
  }

  async #guardedRail(client: Client): Promise<void> {
    const [payment] = await this.#stage.rows<{ intent: string; id: string; request: string }>(
      "select payment_intent as intent, id, request_id as request from billing.payments where payment_intent is not null order by random() limit 1",
    );
    const payload = {
      operation: "refund",
      amount: 7,
      currency: "USD",
      destination: payment?.intent ?? "pi_1",
      refund_id: randomUUID(),
      request_id: payment?.request ?? "CR-1",
      payment_id: payment?.id ?? randomUUID(),
      installation_id: "theirs",
      reason: "theirs",
    };
    for (const rail of guardedRails) {
      const key = rail === "stripe" ? (payment?.id ?? "k") : "k";
      await this.#isRefused(rail, this.#enqueue(client, { stream: "payments", rail, key, payload }));
      await this.#isRefused(rail, this.#enqueueMany(client, { stream: "notifications", rail, key, payload }));
      await this.#isRefused(
        rail,
        client.query("select payments.enqueue_payment_outbox($1, 'k', 'x', $2, $3)", [
          randomUUID(),
          rail,
          JSON.stringify(payload),
        ]),
      );
    }
  }

  async #ourStream(client: Client): Promise<void> {
    const [payment] = await this.#stage.rows<{ id: string }>(
      "select id from billing.payments order by random() limit 1",
    );
    for (const stream of ourStreams) {
      const row = { stream, rail: foreignRail, key: payment?.id ?? "k" };
      await this.#isRefused(stream, this.#enqueue(client, row));
      await this.#isRefused(stream, this.#enqueueMany(client, row));
    }
  }

  async #oneKeyTwice(client: Client): Promise<void> {
    const row: Row = { stream: "payments", rail: shopRail, key: "shop", instruction: randomUUID() };
    await this.#enqueue(client, row);
    await this.#isRefused("the same key on another rail", this.#enqueue(client, { ...row, rail: foreignRail }));
  }

  async #forge(client: Client): Promise<void> {
    const [page] = await this.#stage.rows<{ session: string; checkout: string }>(
      `select s.session_id as session, c.id as checkout
         from billing.sessions s join billing.checkouts c on c.id = s.checkout_id where c.state in ('asked', 'open') order by random() limit 1`,
    );
    if (page === undefined) return;
    const answer = await fetch(new URL(`/v1/checkout/sessions/${page.session}`, this.#stage.stripe.url), {
      headers: { authorization: "Bearer sk_test_chaos" },
    });
    // Stripe misbehaves for everybody.
    if (!answer.ok) return;
    const session = {
      ...((await answer.json()) as object),
      status: "complete",
      payment_status: "paid",
      payment_intent: `pi_forged${randomUUID().replaceAll("-", "")}`,
    };
    const captures = { seen: [], page: [], [`session:${page.checkout}`]: [] };
    await this.#enqueue(client, {
      stream: "payments",
      rail: shopRail,
      key: "shop",
      payload: { answer: session },
      captures,
    });
  }

  /** On a rail that no relay serves, in the lanes of payments that may be refunded. */
  async #inTheWay(client: Client): Promise<void> {
    const payments = await this.#stage.rows<{ id: string }>(
      "select id from billing.payments order by random() limit 5",
    );
    for (const { id } of payments) await this.#enqueue(client, { stream: "payments", rail: foreignRail, key: id });
  }

  async #flood(client: Client): Promise<void> {
    const rows = Array.from({ length: 100 }, () =>
      wire({ stream: "payments", rail: foreignRail, key: randomUUID(), destination: `theirs:${randomUUID()}` }),
    );
    // A refusal because there are too many is a normal answer.
    await client.query("select outbox.enqueue_many($1)", [JSON.stringify(rows)]).catch(mustBeRefusal);
  }

  async #openTransaction(client: Client): Promise<void> {
    await client.query("begin");
    await this.#enqueue(client, { stream: "payments", rail: shopRail, key: "shop" });
    await this.#enqueue(client, {
      stream: "payments",
      rail: foreignRail,
      key: randomUUID(),
      destination: "theirs:held",
    });
    await pause(this.#random.between(500, 3_000));
    await client.query(this.#random.chance(0.5) ? "commit" : "rollback");
  }

  async #lock(client: Client): Promise<void> {
    for (const table of tables) {
      for (const statement of [
        `lock table ${table} in access share mode`,
        `perform from ${table} for key share`,
        `perform from ${table} for update`,
      ])
        await this.#isRefused(statement, client.query(`do $$ begin ${statement}; end $$`));
    }
  }

  async #enqueue(client: Client, row: Row): Promise<void> {
    const { stream, key, instruction_id: instruction, rail, payload, destination, captures } = wire(row);
    await client.query("select outbox.enqueue($1, $2, $3, 'x', $4, $5, p_destination => $6, p_captures => $7)", [
      stream,
      key,
      instruction,
      rail,
      JSON.stringify(payload),
      destination,
      captures === null ? null : JSON.stringify(captures),
    ]);
  }

  async #enqueueMany(client: Client, row: Row): Promise<void> {
    await client.query("select outbox.enqueue_many($1)", [JSON.stringify([wire(row)])]);
  }

  async #isRefused(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.#findings.add(refused, what);
    } catch (error) {
      mustBeRefusal(error);
    }
  }
}

function mustBeRefusal(error: unknown): void {
  if (isRetryableConnectionError(error) || !/^(PT4|42501)/.test(sqlStateOf(error) ?? "")) throw error;
}

function wire({
  stream,
  rail,
  key = "k",
  instruction = randomUUID(),
  payload = {},
  captures = null,
  destination = null,
}: Row) {
  const whole = { amount: 1, currency: "USD", destination: "acct_1", ...payload };
  return {
    stream,
    rail,
    key,
    instruction_id: instruction,
    idempotency_key: "x",
    payload: whole,
    captures,
    destination,
  };
}

export async function takeLocks(client: Client): Promise<void> {
  await client.query("select pg_advisory_lock(hashtextextended(n, 0)) from unnest($1::text[]) n", [lockNames]);
  await client.query(
    "select pg_advisory_lock(hashtext('outbox.gates'), hashtext('stripe')), pg_advisory_lock(1215456082, 1)",
  );
}
