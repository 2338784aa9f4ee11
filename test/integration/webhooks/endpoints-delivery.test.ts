/** Deliveries to endpoints of the database: signed by every valid secret, stopped by 410 and by operators, and sent again afterwards. */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createPool } from "../../../src/db/connect.ts";
import { createDrainer, type DrainReport } from "../../../src/outbox/relay/drain.ts";
import { rotateEndpointSecret } from "../../../src/webhooks/endpoints.ts";
import { createStoredEndpoints } from "../../../src/rails/webhook/stored-endpoints.ts";
import { createWebhookRail, type WebhookRail } from "../../../src/rails/webhook/rail.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { loopbackRules } from "../rails/webhook/webhook-harness.ts";
import { createPublishing, envelope } from "./harness.ts";
import { rowsOf } from "../outbox/queries.ts";
import { secretKey } from "./stored-rail.ts";

describe.each(POSTGRES_VERSIONS)("deliveries to endpoints on PostgreSQL %i", async (version) => {
  const events = await createPublishing(version);
  const { db } = events;
  const control = db.as("headroom_control").pool;

  beforeEach(async () => {
    const left = await events.query<{ id: string }>(
      "select outbox_id as id from outbox.pending union all select outbox_id from outbox.dead",
    );
    await events.query("select outbox.skip($1, 'tests', 'between tests')", [left.map(({ id }) => id)]);
  });

  async function deliver(rail: WebhookRail = events.rail(), budgetMs?: number): Promise<DrainReport> {
    const drainer = createDrainer({
      connectionString: db.as("headroom_executor").url,
      rails: [rail],
      streams: ["@built-in"],
    });
    onTestFinished(() => drainer.close());
    return drainer.drain({ budgetMs });
  }

  const deadCodes = async (): Promise<string[]> =>
    (await rowsOf<{ error_code: string }>(control, "select error_code from outbox.list_dead()")).map(
      (row) => row.error_code,
    );

  test("during a rotation a receiver with the old secret and one with the new one both verify; afterwards only the new one", async () => {
    const { receiver, secret } = await events.endpoint("rotating");
    const client = await db.as("headroom_control").connect();
    const next = await rotateEndpointSecret(client, "rotating", { key: secretKey });
    await client.end();
    const seen: string[] = [];
    for (const known of [secret, next]) {
      receiver.setSecrets([known]);
      await events.publish("transfers", envelope());
      await deliver();
      seen.push(receiver.book.requests.at(-1)!.signature);
    }
    await events.query(
      "update webhooks.endpoint_secrets set expires_at = now() where endpoint_id = (select id from webhooks.endpoints where name = 'rotating') and expires_at is not null",
    );
    for (const known of [secret, next]) {
      receiver.setSecrets([known]);
      await events.publish("transfers", envelope());
      await deliver();
      seen.push(receiver.book.requests.at(-1)!.signature);
    }
    expect(seen).toEqual(["valid", "valid", "invalid", "valid"]);
  });

  test("extra headers are included", async () => {
    const { receiver } = await events.endpoint("with-headers", { headers: { Authorization: "Bearer t0ken" } });
    await events.publish("transfers", envelope());
    await deliver();
    expect(receiver.book.requests[0]!.headers).toMatchObject({ authorization: "Bearer t0ken" });
  });

  test("a receiver that is gone is disabled: nothing new goes to it, waiting rows die unsent, and all of it can be sent later", async () => {
    const { receiver } = await events.endpoint("leaving");
    receiver.script.push({ kind: "status", status: 410 });
    const [first, second] = await events.publish("transfers", envelope(), envelope());
    expect(await deliver()).toMatchObject({ failed: 2, delivered: 0 });
    // One call, for the first; the second found the endpoint disabled.
    expect(receiver.book.requests).toHaveLength(1);
    expect((await deadCodes()).toSorted()).toEqual(["endpoint_disabled", "http_410"]);
    const [listed] = await rowsOf(
      control,
      "select enabled, disabled_code, disabled_reason, dead from webhooks.list_endpoints()",
    );
    expect(listed).toEqual({
      enabled: false,
      disabled_code: "gone",
      disabled_reason: "The receiver answered 410 Gone.",
      dead: 2,
    });
    const [third] = await events.publish("transfers", envelope());
    expect(await events.fate("transfers", third!.id)).toMatchObject({ status: "SENT", deliveries: 0 });

    await rowsOf(control, "select webhooks.enable_endpoint('leaving')");
    const dead = await rowsOf<{ outbox_id: string }>(control, "select outbox_id from outbox.list_dead() order by seq");
    await rowsOf(control, "select outbox.redrive($1, 'ana', 'they are back')", [dead.map(({ outbox_id: id }) => id)]);
    expect(await rowsOf(control, "select webhooks.replay_envelopes('leaving', $1) as n", [third!.created_at])).toEqual([
      { n: 1 },
    ]);
    expect(await deliver()).toMatchObject({ delivered: 3 });
    for (const event of [first, second, third]) {
      expect(await events.fate("transfers", event!.id)).toMatchObject({ status: "SENT", deliveries: 1 });
    }
    expect(receiver.book.effects).toHaveLength(3);
  });

  test("an endpoint that an operator disabled gets no call, and a removed one is unknown", async () => {
    const { receiver } = await events.endpoint("stopped");
    await events.publish("transfers", envelope({ subject: "a" }));
    await rowsOf(control, "select webhooks.disable_endpoint('stopped', 'for now')");
    expect(await deliver()).toMatchObject({ failed: 1 });
    await rowsOf(control, "select webhooks.enable_endpoint('stopped')");
    await events.publish("transfers", envelope({ subject: "b" }));
    await rowsOf(control, "select webhooks.remove_endpoint('stopped')");
    expect(await deliver()).toMatchObject({ failed: 1 });
    expect((await deadCodes()).toSorted()).toEqual(["endpoint_disabled", "unknown_endpoint"]);
    expect(receiver.book.requests).toEqual([]);
  });

  test("a relay with another key sends nothing unsigned: the row waits for one that can read the secrets", async () => {
    const { receiver, id } = await events.endpoint("locked");
    const pool = createPool(db.as("headroom_executor").url, { maxConnections: 2 });
    const log: object[] = [];
    const stored = createStoredEndpoints({
      pool,
      secretKey: "some other key of more than 32 bytes",
      log: (entry) => void log.push(entry),
    });
    const rail = createWebhookRail({ ...loopbackRules, endpoint: (message) => stored.find(message) });
    onTestFinished(async () => {
      rail.close();
      await pool.end();
    });
    const [event] = await events.publish("transfers", envelope());
    // With more time a turn waits for the next tries.
    expect(await deliver(rail, 300)).toMatchObject({ delivered: 0, failed: 0 });
    expect(receiver.book.requests).toEqual([]);
    expect(log[0]).toEqual({ level: "warn", event: "endpoint_unavailable", endpoint: id, code: "not_configured" });
    const [line] = await events.query<{ error_code: string }>(
      "select a.error_code from outbox.attempts a join webhooks.envelopes e on a.outbox_id = e.outbox_ids[1] where e.id = $1 and a.state = 'RETRYABLE'",
      [event!.id],
    );
    expect(line).toEqual({ error_code: "endpoint_unavailable" });
    await events.hurry();
    expect(await deliver()).toMatchObject({ delivered: 1 });
  });

  test("an endpoint is cached for a moment, and is the same object for as long as nothing changed", async () => {
    const { id } = await events.endpoint("remembered");
    const row = { destination: `endpoint:${id}`, tenantId: null };
    const pool = createPool(db.as("headroom_executor").url, { maxConnections: 2 });
    onTestFinished(() => pool.end());
    const forgetful = createStoredEndpoints({ pool, secretKey, rememberMs: 0 });
    const patient = createStoredEndpoints({ pool, secretKey, rememberMs: 3_600_000 });
    const [before, early] = [await forgetful.find(row), await patient.find(row)];
    expect(await forgetful.find(row)).toBe(before);
    await rowsOf(control, "select webhooks.disable_endpoint('remembered')");
    expect(await patient.find(row)).toBe(early);
    expect(await forgetful.find(row)).toEqual({ disabled: true, reason: "operator" });
    await rowsOf(control, "select webhooks.enable_endpoint('remembered')");
    const after = await forgetful.find(row);
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
    expect(await forgetful.find({ destination: `endpoint:${randomUUID()}`, tenantId: null })).toBeNull();
  });
});
