/**
 * An installation with one of everything that a caller can name: a workspace with people, requests in each state, money, jobs, orders,
 * notifications, endpoints, and outbox rows that wait, are in flight and were given up.
 *
 * Does not own: the calls (calls.ts), nor what is asserted.
 */
import { createHmac } from "node:crypto";
import { Stripe } from "stripe";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { webhookSecret, startMoney, type Money } from "../billing/harness.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { Engine, type Claimed, type Stream } from "../outbox/harness.ts";
import { callbackSecret, secretKey } from "../provisioning/harness.ts";
import { sign, signingSecret, team } from "../inbound/slack/slack.ts";

/** The things, by the names that calls use. */
export interface Things {
  readonly review: string;
  readonly offered: string;
  readonly opened: string;
  readonly bought: string;
  readonly failed: string;
  readonly monthly: string;
  readonly payment: string;
  readonly job: string;
  readonly failedJob: string;
  /** A job that failed and whose cleanup failed. */
  readonly uncleanedJob: string;
  readonly offerToken: string;
  readonly checkoutToken: string;
  readonly offerTokenId: string;
  readonly draftToken: string;
  readonly draft: string;
  readonly unsubscribeToken: string;
  readonly notification: string;
  readonly mailed: string;
  readonly mailRow: string;
  readonly skippedMail: string;
  readonly slackRow: string;
  readonly proofToken: string;
  /** The price of the order as it was shown. */
  readonly seen: string;
  readonly endpoint: string;
  readonly price: string;
  readonly finding: string;
  readonly dead: string;
  readonly parked: string;
  readonly waiting: string;
  readonly delivered: string;
  readonly issue: string;
  readonly session: string;
}

export interface Installation {
  readonly money: Money;
  readonly engine: Engine;
  /** Makes it, inside a test: the workflow's own set-up before each test would remove part of it. */
  make(): Promise<void>;
  readonly things: () => Things;
  /** An ordered stream, whose rows these are. */
  readonly stream: () => Stream;
  /** A row of it that a relay has claimed. */
  readonly flying: () => Claimed;
}

export const linearSecret = "lin_wh_".padEnd(40, "x");
export const gitHubSecret = "g".repeat(40);

const hmac = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex");

/** The headers with which each provider signs a body. */
export const signed: Readonly<Record<string, (body: string) => Readonly<Record<string, string>>>> = {
  handle_slack_webhook: (body) => sign(body).headers,
  handle_linear_webhook: (body) => ({
    "linear-delivery": hmac("id", body),
    "linear-signature": hmac(linearSecret, body),
  }),
  handle_github_webhook: (body) => ({
    "x-github-delivery": hmac("id", body),
    "x-github-event": "workflow_run",
    "x-hub-signature-256": `sha256=${hmac(gitHubSecret, body)}`,
  }),
  handle_provisioning_callback: (body) => {
    const stamp = String(Math.floor(Date.now() / 1000));
    return {
      "x-headroom-timestamp": stamp,
      "x-headroom-signature": `v1=${hmac(callbackSecret, `v1:${stamp}:${body}`)}`,
    };
  },
  handle_stripe_webhook: (body) => ({
    "stripe-signature": Stripe.webhooks.generateTestHeaderString({ payload: body, secret: webhookSecret }),
  }),
};

/** Only one at a time is provisioned for a customer. */
const terms = (org = "initech") => ({
  customer: { org_id: org, name: "Initech", email: "buyer@initech.example" },
  channel: "C0ACME",
});

const must = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("The installation does not exist yet.");
  return value;
};

/** Call it while tests are being collected. */
export async function startInstallation(version: EmbeddedVersion): Promise<Installation> {
  const money = await startMoney(version);
  const { superuser, db } = money;
  const engine = new Engine(db);
  // Before the first connection: it applies to sessions that begin afterwards.
  const first = await db.superuser.connect();
  await first.query(`alter database ${db.name} set headroom.secret_key = '${secretKey}'`);
  await first.end();
  const found: { things?: Things; stream?: Stream; flying?: Claimed } = {};

  const one = async <T = string>(text: string, ...values: unknown[]): Promise<T> =>
    (await oneOf<{ value: T }>(superuser, `select (${text}) as value`, values)).value;

  async function people(): Promise<void> {
    await rowsOf(
      superuser,
      "update directory.members set email = id || '@acme.example' where workspace_id = 'acme' and active",
    );
    await one("directory.put_workspace('acme', $1)", {
      slack_team_id: team,
      public_url: "https://acme.example",
      slack_channel_id: "C0ACME",
      linear_team_id: "team-1",
    });
    for (const [name, value] of [
      ["SLACK_SIGNING_SECRET", signingSecret],
      ["LINEAR_WEBHOOK_SECRET", linearSecret],
      ["GITHUB_WEBHOOK_SECRET", gitHubSecret],
      ["OLD_TOKEN", "of no use"],
    ])
      await one("headroom.set_secret($1, $2) is null", name, value);
    await one("directory.put_api_key('rita-key', 'authenticated', 'acme', 'rita') is null");
    await one("directory.put_identity('acme', 'rita', 'https://id.example', 'rita-there') is null");
    await one("directory.put_identity_domain('acme', 'https://id.example', 'acme.example') is null");
    await one("directory.put_group('acme', 'spare', 'Spare', '{tim}') is null");
    await one("capacity.put_policy('acme', 'large', $1) is null", {
      kind: "escalation",
      step: "commercial",
      min_monthly_cost_usd: 90_000,
      approver_role: "vp",
    });
    for (const [step, approver] of Object.entries({
      commercial: { approver_id: "cora" },
      technical: { group_id: "infra" },
    }))
      await one("capacity.put_policy('acme', $1, $2) is null", `of-${step}`, {
        kind: "review_route",
        step,
        ...approver,
      });
    await one("capacity.put_policy('acme', 'single', $1) is null", {
      kind: "auto_approval",
      step: "both",
      sizes: ["32XL"],
      max_quantity: 1,
    });
    await one("capacity.put_linear_state('acme', 'UNDER_REVIEW', 'in-review') is null");
    await one("capacity.put_subscription('acme', 'crm', '{}') is null");
    await one("webhooks.put_endpoint('hook', $1) is null", { url: "https://hook.example/", topics: ["*"] });
    await one("webhooks.put_endpoint('hook', $1, p_tenant_id => 'acme') is null", {
      url: "https://hook.example/",
      topics: ["*"],
    });
    await one("webhooks.put_endpoint('pager', $1) is null", { url: "https://pager.example/", topics: [] });
    await one("webhooks.put_alert('dead', $1) is null", { endpoint: "pager" });
    await one("billing.put_settings('acme', $1) is null", { self_service_requester: "rob" });
    await one("billing.set_rate('acme', 'EUR', 1.1, 'otto') is null");
    await one("notify.suppress_address('acme', 'gone@initech.example', 'otto') is null");
    await one("notify.add_producer('login_headroom_auditor', 'otto') is null");
    await one("public.set_notification_template('webhook_gone', 'Gone', 'It is gone.', 'acme') is null");
  }

  async function rows(): Promise<Pick<Things, "dead" | "parked" | "waiting" | "delivered">> {
    await engine.start();
    const stream = await engine.stream({ runLength: 1, retention: "week", dedupeDays: 30 });
    const strict = await engine.stream({ money: true, onDead: "block" });
    const loose = await engine.stream({ ordered: false });
    found.stream = stream;
    const delivered = await engine.enqueue(stream, { key: "delivered" });
    await engine.drain(stream);
    await engine.enqueue(stream, { key: "dead" });
    const dead = await engine.kill(stream);
    await engine.enqueue(strict, { key: "parked", rail: "blind" });
    const parked = await engine.kill(strict, "unknown");
    await engine.enqueueRow(stream, 2, { key: "flying", destination: "shop:1" });
    found.flying = await engine.claimOne(stream);
    const waiting = await engine.enqueue(stream, {
      key: "waiting",
      destination: "shop:1",
      notBefore: new Date(Date.now() + 3_600_000),
    });
    await engine.enqueueRow(loose, 3, { destination: "shop:2" });
    await rowsOf(
      engine.ingest,
      `insert into payments.outbox_transfers (payload) values ('{"specversion": "1.0", "id": "first", "source": "/shop", "type": "order.paid"}')`,
    );
    return {
      dead: dead.outbox_id,
      parked: parked.outbox_id,
      waiting: waiting.outbox_id,
      delivered: delivered.outbox_id,
    };
  }

  async function told(
    about: string,
    offered: string,
  ): Promise<Pick<Things, "notification" | "mailed" | "mailRow" | "skippedMail" | "slackRow" | "unsubscribeToken">> {
    const tell =
      "notify.tell(notify.recipient('acme', 'member', 'rita'), $1, notify.content('requests', 'A title', 'A body.', $2, p_about => $3))";
    const notification = await one(tell, "told-1", ["in-app"], about);
    await one(tell, "told-2", ["in-app", "email"], about);
    for (let n = 3; n < 9; n += 1) await one(tell, `told-${n}`, ["in-app"], about);
    const general =
      "notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content('general', 'A title', 'A body.', $3))";
    const mailed = await one(general, "rita", "mailed", ["in-app", "email"]);
    const skippedMail = await one(general, "rita", "skipped", ["in-app", "email"]);
    await one("public.set_slack_webhook('https://hooks.slack.com/services/T0/B0/x', 'carl', 'acme') is null");
    const slacked = await one(general, "carl", "slacked", ["slack"]);
    await rowsOf(superuser, "update notify.parts set due_at = now() where state = 'held'");
    await rowsOf(superuser, "select notify.release()");
    const rowOf =
      "select d.outbox_id from notify.deliveries d join notify.parts p on p.delivery_id = d.id where p.notification_id = $1";
    const [mailRow, slackRow] = [await one(rowOf, mailed), await one(rowOf, slacked)];
    await rowsOf(superuser, "select outbox.skip(array[$1::uuid], 'otto', 'not now')", [await one(rowOf, skippedMail)]);
    // A visitor who lost the mail may be sent another immediately.
    await rowsOf(
      superuser,
      "select outbox.skip(array(select l.outbox_id from capacity.links_of($1) l), 'otto', 'lost')",
      [offered],
    );
    const unsubscribeToken = await one("notify.unsubscribe_token($1, $2)", mailed, mailRow);
    await one(tell, "told-later", ["email"], about);
    return { notification, mailed, mailRow, skippedMail, slackRow, unsubscribeToken };
  }

  async function make(): Promise<void> {
    await people();
    const review = (await money.create({ channel: "C0ACME", key: "the-key", customerId: "initech" })).id;
    const offered = await money.offered(terms());
    const { id: opened, session } = await money.opened(terms());
    const { id: bought } = await money.bought(terms("bought"));
    const { id: monthly } = await money.bought({ ...terms("monthly"), size: "MONTHLY" });
    const { id: failed } = await money.bought(terms("failed"));
    const { id: uncleanedRequest } = await money.bought(terms("uncleaned"));
    await money.stop();
    const failedJob = await money.job(failed);
    await money.says(failedJob, { signal: "claim" });
    await money.says(failedJob, { signal: "failed", error: "no such size" });
    const uncleaned = await money.job(uncleanedRequest);
    await money.says(uncleaned, { signal: "claim" });
    await money.says(uncleaned, { signal: "failed", error: "no such region" });
    await rowsOf(superuser, "update provisioning.jobs set cleanup = 'failed' where id = $1", [uncleaned.id]);
    const job = await money.job(bought);
    await money.says(job, { signal: "claim" });
    const [payment] = await money.payments(bought);
    const draftToken = await one<{ token: string }>("public.begin_draft('acme')").then(({ token }) => token);
    await one("public.save_draft('acme', $1, 1, 0, $2)", draftToken, {
      size: "32XL",
      quantity: "1",
      region: "us-east-1",
    });
    const draft = await one("select id from billing.drafts");
    await one("public.save_draft('acme', $1, 2, 1, $2)", draftToken, { needed_by: "", duration_days: "30" });
    await one("public.save_draft('acme', $1, 3, 2, $2)", draftToken, {
      name: "Buyer",
      organisation: "Initech",
      email: "buyer@initech.example",
    });
    await rowsOf(
      superuser,
      "insert into billing.findings (kind, stripe_id, request_id, said, event_id) values ('books', $1, $2, 'Odd.', 'sweep')",
      [payment!.id, bought],
    );
    const issue = "11111111-1111-4111-8111-111111111111";
    await one(
      `capacity.keep_captures(jsonb_build_array(jsonb_build_object('stream', 'capacity', 'rail', 'linear', 'key', $1 || ':linear',
        'name', 'linear_issue_id', 'value', to_jsonb($2::text))))`,
      review,
      issue,
    );
    found.things = {
      review,
      offered,
      opened,
      bought,
      failed,
      monthly,
      payment: payment!.id,
      job: job.id,
      failedJob: failedJob.id,
      uncleanedJob: uncleaned.id,
      offerToken: await money.token(offered),
      checkoutToken: await money.token(opened),
      offerTokenId: await one("select id from capacity.confirmation_tokens where request_id = $1", offered),
      draftToken,
      draft,
      ...(await told(review, offered)),
      endpoint: await one("select id from webhooks.endpoints where tenant_id is null and name = 'hook'"),
      price: await one("select id from billing.prices where size = '32XL'"),
      finding: await one("select id from billing.findings"),
      seen: await one("select billing.offer_seen((billing.draft_offer('acme', d.terms)).offer) from billing.drafts d"),
      proofToken: await one("billing.proof_token($1, 'buyer@initech.example')", draft),
      ...(await rows()),
      issue,
      session: session.id,
    };
    await rowsOf(superuser, "analyze");
  }

  return {
    money,
    engine,
    make,
    things: () => must(found.things),
    stream: () => must(found.stream),
    flying: () => must(found.flying),
  };
}
