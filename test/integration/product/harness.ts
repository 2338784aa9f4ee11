/**
 * The whole product on a test's database: the real server, a relay with the providers' rails, and the sandbox that they reach. The people
 * are those of the example that `headroom up` makes.
 *
 * Owns: starting everything, and stopping it at the end of the file. Does not own: what is asserted.
 */
import { afterAll } from "vitest";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { putWorkspace } from "../../../src/directory/index.ts";
import { openSidePool } from "../../../src/db/side-pool.ts";
import { createProviderRails } from "../../../src/cli/relay/provider-rails.ts";
import { exampleWorkspace, makeDirectory } from "../../../src/cli/commands/up/example.ts";
import { environmentOf } from "../../../src/cli/commands/up/product.ts";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { createRelay, type Relay } from "../../../src/outbox/index.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/sandbox.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { startTestGateway, testSecretKey, type TestGateway } from "../http/harness.ts";

export interface ProductStage {
  readonly db: TestDatabase;
  readonly gateway: TestGateway;
  readonly sandbox: Sandbox;
  readonly relay: Relay;
}

export const providerSecrets = {
  slackSigningSecret: "8f742231b10e8888abcd99baac85a500",
  linearWebhookSecret: "lin_wh_5c1f0d6b7d2f4c0ab1b4d4f1a1b2c3d4",
  githubWebhookSecret: "github-webhook-secret-of-the-tests",
  stripeWebhookSecret: "whsec_5c1f0d6b7d2f4c0ab1b4d4f1a1b2c3d4",
};

/** Call it while tests are being collected. */
export async function startProductStage(version: EmbeddedVersion = 18): Promise<ProductStage> {
  const db = await createTestDatabase({ version });
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: providerSecrets });
  afterAll(() => sandbox.close());
  const gateway = await startTestGateway(db, {
    dependencies: { payments: { checkoutOrigins: [new URL(sandbox.url).origin] } },
  });
  sandbox.connect({ headroomUrl: gateway.url });
  await prepare(db, gateway);
  const connectionString = db.as("headroom_executor").url;
  const environment = { ...environmentOf(sandbox), HEADROOM_SECRET_KEY: testSecretKey };
  const side = openSidePool(connectionString);
  const rails = createProviderRails(side.read, environment);
  const relay = createRelay({ connectionString, rails, streams: ["@built-in"], pollMs: 250 });
  await relay.start();
  afterAll(async () => {
    await relay.stop();
    for (const rail of rails) if ("close" in rail && typeof rail.close === "function") rail.close();
    await side.end();
  });
  return { db, gateway, sandbox, relay };
}

async function prepare(db: TestDatabase, gateway: TestGateway): Promise<void> {
  const client = await db.as("headroom_control").connect();
  await makeDirectory(client, defaultSampleData);
  await putWorkspace(client, exampleWorkspace, { publicUrl: gateway.url });
  for (const [name, value] of [
    ["CONFIRMATION_TOKEN_SECRET", "confirmation-secret-of-the-tests-32-bytes"],
    ["SLACK_SIGNING_SECRET", providerSecrets.slackSigningSecret],
    ["LINEAR_WEBHOOK_SECRET", providerSecrets.linearWebhookSecret],
    ["STRIPE_WEBHOOK_SECRET", providerSecrets.stripeWebhookSecret],
  ] as const) {
    await setSecret(client, { name, value, key: testSecretKey });
  }
  // Slack's limit of one message a second is tested elsewhere.
  await db.superuser.pool.query("select outbox.limit_destination($1, 1)", [
    `slack:${defaultSampleData.slackChannels[0]?.id}`,
  ]);
}
