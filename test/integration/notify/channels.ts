/**
 * Messages to people, end to end: the workflow's database, a relay with its own rails, the server, and the sandbox that the rails reach and
 * that reports back.
 *
 * Owns: starting all of it, and stopping it at the end of the file. Does not own: what is asserted.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { closeRails } from "../../../src/cli/relay/close-rails.ts";
import { openSidePool } from "../../../src/db/side-pool.ts";
import { loadRails } from "../../../src/cli/relay/rails.ts";
import { environmentOf } from "../../../src/cli/commands/up/product.ts";
import { createRelay } from "../../../src/outbox/index.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/sandbox.ts";
import { startTestGateway, storeWebhookSecrets, testSecretKey, type TestGateway } from "../http/harness.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "../capacity/harness.ts";
import { providerSecrets } from "../product/harness.ts";

export interface Told {
  readonly user?: string;
  readonly kind?: "member" | "customer";
  readonly category?: string;
  readonly title?: string;
  readonly body?: string;
  readonly url?: string | null;
  readonly channels?: readonly string[];
  readonly about?: string | null;
  readonly address?: string | null;
  readonly workspace?: string;
  readonly expires?: string | null;
}

export class Channels {
  readonly workflow: Workflow;
  readonly sandbox: Sandbox;
  readonly gateway: TestGateway;

  constructor(workflow: Workflow, sandbox: Sandbox, gateway: TestGateway) {
    this.workflow = workflow;
    this.sandbox = sandbox;
    this.gateway = gateway;
  }

  async tell(told: Told): Promise<string> {
    const { id } = await oneOf<{ id: string }>(
      this.workflow.superuser,
      `select notify.tell(notify.recipient($1, $2, $3, $12), $4, jsonb_populate_record(
                notify.content($5, $6, $7, $9, p_about => $11, p_action_url => $8),
                jsonb_build_object('expires_at', $10::timestamptz))) as id`,
      [
        told.workspace ?? "acme",
        told.kind ?? "member",
        told.user ?? "rita",
        randomUUID(),
        told.category ?? "general",
        told.title ?? "A title",
        told.body ?? "A body.",
        told.url ?? null,
        told.channels ?? ["email"],
        told.expires ?? null,
        told.about ?? null,
        told.address ?? null,
      ],
    );
    return id;
  }

  /** Makes held notifications due, and sends them. */
  async release(): Promise<void> {
    await rowsOf(this.workflow.superuser, "update notify.parts set due_at = clock_timestamp() where state = 'held'");
    await rowsOf(this.workflow.superuser, "select * from notify.release()");
  }

  async stageOf(id: string, channel = "email"): Promise<string> {
    const stage = "select stage from notify.part_stages where notification_id = $1 and channel = $2";
    return (await oneOf<{ stage: string }>(this.workflow.superuser, stage, [id, channel])).stage;
  }

  /** The payload of the message that carries it. */
  async payloadOf(id: string, channel = "email"): Promise<Record<string, unknown>> {
    const payload = `select m.payload from notify.parts p join notify.deliveries d on d.id = p.delivery_id
                       join outbox.payloads m on m.outbox_id = d.outbox_id where p.notification_id = $1 and p.channel = $2`;
    return (await oneOf<{ payload: Record<string, unknown> }>(this.workflow.superuser, payload, [id, channel])).payload;
  }

  /** Waits until it has reached that stage; retries are made immediately. */
  async reaches(id: string, stage: string, channel = "email"): Promise<void> {
    const deadline = performance.now() + 15_000;
    while ((await this.stageOf(id, channel)) !== stage && performance.now() < deadline) {
      await rowsOf(this.workflow.superuser, "update outbox.pending_unordered set due = now() where due > now()");
      await delay(20);
    }
    expect(await this.stageOf(id, channel)).toBe(stage);
  }

  /** Notifications to a person because of mails or webhooks that failed. */
  async toldBecause(cause: string): Promise<{ recipient: string; title: string }[]> {
    const told = "select recipient, title from notify.notifications where cause = $1 order by recipient, title";
    return rowsOf(this.workflow.superuser, told, [cause]);
  }
}

async function startRelay(
  workflow: Workflow,
  environment: Record<string, string | undefined>,
): Promise<() => Promise<void>> {
  const connectionString = workflow.db.as("headroom_executor").url;
  const side = openSidePool(connectionString);
  const rails = await loadRails({ webhooks: true }, { side, log: () => undefined, environment });
  const relay = createRelay({ connectionString, rails, streams: ["@built-in"], pollMs: 250 });
  await relay.start();
  return async () => {
    await relay.stop();
    closeRails(rails);
    await side.end();
  };
}

/** Call it while tests are being collected. Without a relay nothing leaves the outbox. */
export async function startChannels(mail: "smtp" | "postal" | "nothing"): Promise<Channels> {
  const workflow = await startWorkflow(18);
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: providerSecrets });
  afterAll(() => sandbox.close());
  const gateway = await startTestGateway(workflow.db);
  sandbox.connect({ headroomUrl: gateway.url });
  let stop: (() => Promise<void>) | undefined;
  afterAll(() => stop?.());
  beforeAll(async () => {
    await storeWebhookSecrets(workflow.db);
    const control = await workflow.db.as("headroom_control").connect();
    const { postalPublicKey: value } = sandbox.mail;
    await setSecret(control, { name: "POSTAL_WEBHOOK_PUBLIC_KEY", value, key: testSecretKey });
    await control.end();
    await rowsOf(workflow.superuser, "update directory.workspaces set public_url = 'https://capacity.example/eu/'");
    await rowsOf(workflow.superuser, "update directory.members set email = id || '@' || workspace_id || '.example'");
    if (mail === "nothing") return;
    const { SMTP_URL: smtp, ...rest } = environmentOf(sandbox);
    const postal = { POSTAL_URL: `${sandbox.url}/postal`, POSTAL_API_KEY: "postal-key" };
    stop = await startRelay(workflow, {
      ...rest,
      ...(mail === "smtp" ? { SMTP_URL: smtp } : postal),
      HEADROOM_SECRET_KEY: testSecretKey,
    });
  });
  return new Channels(workflow, sandbox, gateway);
}
