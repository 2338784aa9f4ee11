/**
 * Where the cases are played: a real database, the real server with its webhooks and customer pages, a real relay with the rail `stripe`,
 * and the sandbox's Stripe, whose events are sent as a case wants them.
 *
 * Owns: starting all of it, and reading what customer, thread, books and Stripe say. Does not own: what happens (steps.ts), nor what is
 * expected (table.ts).
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { createRelay } from "../../../../src/outbox/index.ts";
import { createStripeRail } from "../../../../src/rails/stripe/rail.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { Session } from "../../../../src/sandbox/stripe/things.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startTestGateway } from "../../http/harness.ts";
import { Visitor } from "../../http/visitor.ts";
import { until } from "../../outbox/relay/stage.ts";
import { secretKey, startProvisioning, type Provisioning } from "../../provisioning/harness.ts";
import { putPrice } from "../pricing.ts";
import { readPage } from "./page.ts";
import type { Price } from "./table.ts";

export const webhookSecret = `whsec_${"s".repeat(32)}`;

const streams = ["billing", "payments", "refunds", "subscriptions"];

/** A request with a price, whose customer is asked, and what a case has done with it. */
export interface Scene {
  readonly id: string;
  readonly priceId: string;
  readonly size: string;
  readonly customer: unknown;
  readonly token: string;
  readonly visitor: Visitor;
  /** Ids of the Checkout sessions that the customer was led to. */
  readonly sessions: string[];
  /** The answers to people's calls, in order. */
  readonly answers: string[];
}

export interface Holdings {
  taken: number;
  refunded: number;
  disputed: number;
}

export interface CaseStage {
  readonly p: Provisioning;
  readonly sandbox: Sandbox;
  readonly url: string;
  open(price: Price): Promise<Scene>;
  /** Another request of the same requester at the same price. */
  offer(size: string, customer: unknown): Promise<{ id: string; token: string }>;
  /** Lets events arrive and the relay deliver what is due now. */
  flow(): Promise<void>;
  sweep(): Promise<void>;
  /** Runs everything that is due, and whatever follows from it. */
  settle(scene: Scene): Promise<void>;
  customer(scene: Scene): Promise<string[]>;
  /** False statements on the customer's page, and buttons of it that do not work. Presses the pay button. */
  untrue(scene: Scene): Promise<string[]>;
  thread(scene: Scene): Promise<string[]>;
  books(scene: Scene): Promise<string[]>;
  ours(scene: Scene): Promise<Holdings>;
  stripes(scene: Pick<Scene, "id">): Holdings;
  /** What verification finds wrong so far; findings for people are listed by kind. */
  problems(): Promise<unknown[]>;
}

/** Call it while tests are being collected. */
export async function startCaseStage(): Promise<CaseStage> {
  const p = await startProvisioning(18);
  const sandbox = await startSandbox({
    sampleData: defaultSampleData,
    secrets: {
      slackSigningSecret: "s".repeat(32),
      linearWebhookSecret: "l".repeat(32),
      githubWebhookSecret: "g".repeat(32),
      stripeWebhookSecret: webhookSecret,
    },
  });
  const gateway = await startTestGateway(p.db, {
    dependencies: { trustedProxies: 1, payments: { checkoutOrigins: [sandbox.url], waitMs: 15_000 } },
    database: { secretKey },
  });
  sandbox.connect({ headroomUrl: gateway.url });
  const rail = createStripeRail({ secretKey: "sk_test_sandbox", apiUrl: sandbox.url });
  const relay = createRelay({
    connectionString: p.db.as("headroom_executor").url,
    rails: [rail],
    streams,
    pollMs: 250,
  });
  beforeAll(async () => {
    const control = await p.db.superuser.connect();
    await control.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await control.query("select headroom.set_secret('STRIPE_WEBHOOK_SECRET', $1)", [webhookSecret]);
    await control.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", ["c".repeat(40)]);
    await control.end();
    await relay.start();
  });
  beforeEach(() => p.settings({ public_url: gateway.url }));
  afterAll(async () => {
    await relay.stop();
    rail.close();
    await sandbox.close();
  });
  return caseStage(p, sandbox, gateway.url);
}

function caseStage(p: Provisioning, sandbox: Sandbox, url: string): CaseStage {
  const pool = p.superuser;
  const lines = async (text: string, id: string): Promise<string[]> =>
    (await rowsOf<{ line: string }>(pool, text, [id])).map(({ line }) => withoutChance(line));
  let sizes = 0;

  const stage: CaseStage = {
    p,
    sandbox,
    url,
    async open(price) {
      const size = `CASE-${(sizes += 1)}`;
      const { id: priceId } = await putPrice(p, { size, region: null, duration_days: null, ...price });
      const customer = { org_id: randomUUID(), name: "Initech", email: `cfo${sizes}@initech.example` };
      const offered = await stage.offer(size, customer);
      return { ...offered, priceId, size, customer, visitor: new Visitor(url), sessions: [], answers: [] };
    },
    async offer(size, customer) {
      const id = await p.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { size, customer, quantity: 1 });
      return { id, token: await tokenOf(p, id) };
    },
    async flow() {
      await sandbox.stripe.delivered();
      await until(
        () => rowsOf(pool, waitingQuery, [streams]),
        (waiting) => waiting.length === 0,
        "everything for Stripe to be delivered",
      );
      await sandbox.stripe.delivered();
    },
    async sweep() {
      const { failed } = await oneOf<{ failed: unknown[] }>(
        pool,
        "select public.run_capacity_request_timers() -> 'failed' as failed",
      );
      if (failed.length > 0) throw new Error(`The sweep failed: ${JSON.stringify(failed)}`);
      await stage.flow();
    },
    async settle({ id }) {
      await stage.flow();
      for (let turn = 0; turn < 3; turn += 1) {
        await rowsOf(pool, makeDue, [id]);
        await stage.sweep();
      }
      await stage.sweep();
    },
    async customer({ visitor, token }) {
      const answer = await visitor.get(`/confirm/${token}`);
      return readPage(await answer.text());
    },
    async untrue({ id, visitor, token }) {
      const said = readPage(await (await visitor.get(`/confirm/${token}`)).text());
      const { taken, refunded, disputed } = stage.stripes({ id });
      const { held } = await oneOf<{ held: number }>(
        pool,
        `select count(*)::integer as held from billing.findings f
          where f.request_id = $1 and f.kind = 'amount_mismatch' and f.stripe_id ~ '^cs_' and f.resolved_at is null`,
        [id],
      );
      const wrong: string[] = [];
      const hasMoney = held > 0 || taken > refunded + disputed || isUnderWay(sandbox, id);
      if (hasMoney) wrong.push(...said.filter((line) => /nothing (?:was|will be) charged/i.test(line)));
      const button = said.find((line) => line.startsWith("[Pay"));
      if (button === undefined) return wrong;
      if (hasMoney) wrong.push(`${button}, though money has already arrived`);
      const answer = await visitor.post(`/confirm/${token}`, { decision: "pay" });
      const page = answer.headers.get("location")?.split("/").at(-1) ?? "";
      const led = sandbox.stripe.sessions().find((session) => session.id === page);
      const words = led === undefined ? readPage(await answer.text()) : [];
      // While another request of theirs is being set up, the customer is told so and keeps the offer.
      const isTold = words.some((line) => line.includes("is being provided at this moment"));
      if (led?.status !== "open" && !isTold) wrong.push(`${button} leads nowhere: ${answer.status} ${words.join(" ")}`);
      return wrong;
    },
    thread: ({ id }) => lines(threadQuery, id),
    books: ({ id }) =>
      lines(
        `select concat_ws(' ', e.kind, e.amount) as line from billing.entries e join billing.payments p on p.id = e.payment_id
          where p.request_id = $1 order by e.id`,
        id,
      ),
    ours: ({ id }) => oneOf<Holdings>(pool, oursQuery, [id]),
    stripes: ({ id }) => {
      const { stripe } = sandbox;
      const sums: Holdings = { taken: 0, refunded: 0, disputed: 0 };
      const own = (session: Session): boolean => session.metadata["headroom_request"] === id;
      for (const payment of stripe
        .sessions()
        .filter(own)
        .flatMap((session) => stripe.paymentsOf(session))) {
        if (payment.status !== "succeeded") continue;
        sums.taken += payment.amount;
        for (const { status, amount } of stripe.refunds(payment.id))
          if (status === "succeeded") sums.refunded += amount;
        for (const { status, amount } of stripe.disputes(payment.id)) {
          if (["needs_response", "under_review", "lost"].includes(status)) sums.disputed += amount;
        }
      }
      return sums;
    },
    async problems() {
      const { findings } = await oneOf<{ findings: { detail: string }[] }>(
        pool,
        "select * from billing.verify_payments()",
      );
      return [...findings.map(({ detail }) => detail.replace(/ \(.*/, "")), ...(await p.findings())];
    },
  };
  return stage;
}

/** Whether Stripe has a payment of the request that has neither arrived nor failed. */
function isUnderWay({ stripe }: Sandbox, requestId: string): boolean {
  return stripe
    .sessions()
    .filter(({ metadata }) => metadata["headroom_request"] === requestId)
    .some((session) => stripe.paymentsOf(session).some(({ status }) => status === "processing"));
}

/** Over a connection that is open already: the first call of a new one takes many times longer. */
async function tokenOf(p: Provisioning, requestId: string): Promise<string> {
  const { token } = await oneOf<{ token: string }>(
    p.superuser,
    `select capacity.confirmation_token(t.id) as token
       from capacity.confirmation_tokens t, set_config('headroom.secret_key', $2, true) k
      where t.request_id = $1 and t.revoked_at is null`,
    [requestId, secretKey],
  );
  return token;
}

/** Ids and days differ each time. */
export function withoutChance(text: string): string {
  return text.replaceAll(/\bCR-\d{4}-\d+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d{2}-\d{2}\b/g, "…");
}

/** The replies in the thread since the customer was asked: about the money, and about how the request ended. */
const threadQuery = `
  select case when s.payload::text like '%<@%' then '@ ' else '' end || regexp_replace(s.payload ->> 'text', '^[^:]+: ', '') as line
    from outbox.payloads m
   cross join lateral outbox.rendered(m.stream_id, m.binds #>> '{0,renderer}', m.payload) s(payload)
    join outbox.rails r on r.rail_id = m.rail_id and r.name = 'slack'
    left join capacity.notices n on m.instruction_id = n.request_id || '!' || n.id
    left join capacity.events e on m.instruction_id = e.request_id || '#' || e.seq
   where m.idempotency_key = 'slack:reply' and $1 in (n.request_id, e.request_id)
     and (n.kind in ('payment', 'payment_failed', 'refund') or e.state_before in ('CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING'))
   order by m.seq`;

/** Everything of a request that is looked at again some time is looked at now. */
const makeDue = `
  with c as (update billing.checkouts set next_look_at = now() where request_id = $1),
       p as (update billing.payments set next_look_at = now() where request_id = $1 and next_look_at is not null),
       r as (update billing.refunds set next_look_at = now() where request_id = $1 and next_look_at is not null)
  update billing.subscriptions set next_look_at = now() where request_id = $1 and next_look_at is not null`;

const oursQuery = `
  select coalesce(sum(e.amount) filter (where e.kind = 'taken'), 0)::integer as taken,
         coalesce(-sum(e.amount) filter (where e.kind in ('refunded', 'refund_failed')), 0)::integer as refunded,
         coalesce(-sum(e.amount) filter (where e.kind in ('disputed', 'dispute_won')), 0)::integer as disputed
    from billing.entries e join billing.payments p on p.id = e.payment_id where p.request_id = $1`;

/** A lane blocked by a dead letter waits for the sweep or a person. */
const waitingQuery = `
  select l.key from outbox.pending p
    join outbox.lanes l on l.lane_id = p.lane_id
    join outbox.streams s on s.stream_id = l.stream_id and s.name = any ($1)
   where s.on_dead = 'skip'
      or not exists (select from outbox.dead d join outbox.payloads m on m.outbox_id = d.outbox_id where m.lane_id = p.lane_id)`;
