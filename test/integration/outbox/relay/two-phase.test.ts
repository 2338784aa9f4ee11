/** Producers in two-phase commits: they need not know that a relay sleeps, nor that anybody listens. */
import type { Client } from "pg";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createRelay, createStream, type Relay } from "../../../../src/outbox/index.ts";
import { registerRails } from "../../../../src/outbox/operate/register-rails.ts";
import { startTestCluster } from "../../../helpers/clusters.ts";
import { oneOf, rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { memberToken, startTestGateway } from "../../http/harness.ts";
import { listen } from "../../http/event-reader.ts";
import { envelope, Publishing } from "../../webhooks/harness.ts";
import { probeRail, type ProbeRail } from "./rails.ts";
import { until } from "./stage.ts";

describe.each([15, 18] as const)("a server that allows prepared transactions, PostgreSQL %i", async (version) => {
  const cluster = await startTestCluster(version, { max_prepared_transactions: 10 });
  afterAll(() => cluster.server.stop());
  const workflow = await startWorkflow(version, cluster.info);
  const { db } = workflow;
  const publishing = new Publishing(db);
  const gateway = await startTestGateway(db, { dependencies: { live: { pollMs: 20, heartbeatMs: 50 } } });
  let relay: Relay | undefined;
  afterEach(() => relay?.stop());

  /** A relay that has nothing to do and wants to be notified when it has. */
  async function sleepingRelay(name: string): Promise<ProbeRail> {
    const rail = probeRail();
    await registerRails(db.as("headroom_control").pool, [rail, probeRail({ name: "webhook" })]);
    await createStream(db.as("headroom_control").pool, name);
    relay = createRelay({
      connectionString: db.as("headroom_executor").url,
      rails: [rail, publishing.rail()],
      streams: [name, "transfers"],
      pollMs: 1_000,
      name,
    });
    await relay.start();
    await until(
      () =>
        publishing.query(
          "select from outbox.relays r where r.name = $1 and r.wants_notify and seen_at > now() - interval '3 minutes'",
          [name],
        ),
      (found) => found.length === 1,
      "the relay to sleep",
    );
    return rail;
  }

  /** Everything that a producer can do, in one transaction. */
  async function produce(client: Client, stream: string, subject: string): Promise<{ request: string; event: string }> {
    const { id: request } = await workflow.create({ requester: "rita" }, client);
    await workflow.apply(request, "COMMERCIAL_APPROVED", "cora", { client });
    for (const nth of ["first", "second"]) {
      await client.query("select outbox.enqueue($1, 'k', $2, $3, 'probe', '{}')", [stream, subject, nth]);
    }
    await client.query("select outbox.enqueue_many($1)", [
      JSON.stringify([
        { stream, key: "k", instruction_id: subject, idempotency_key: "third", rail: "probe", payload: {} },
      ]),
    ]);
    const { id: event } = await oneOf<{ id: string }>(
      client,
      "insert into payments.outbox_transfers (payload) values ($1) returning id",
      [JSON.stringify(envelope({ subject }))],
    );
    return { request, event };
  }

  const hearRita = async () =>
    listen(`${gateway.url}/events`, { authorization: `Bearer ${await memberToken("rita")}` });

  test("takes a whole business transaction in two phases, and delivers it in order once it is committed", async () => {
    const stream = `committed_${version}`;
    await publishing.endpoint("hooks");
    const rail = await sleepingRelay(stream);
    const rita = await hearRita();
    const client = await db.superuser.connect();
    await client.query("begin");
    const { request, event } = await produce(client, stream, "whole");
    await client.query("prepare transaction 'whole'");
    expect(rail.sent).toEqual([]);
    expect(await rowsOf(client, "select from capacity.requests where id = $1", [request])).toEqual([]);

    await client.query("commit prepared 'whole'");
    await until(
      () => rail.sent.map(({ seq }) => seq),
      (sent) => sent.length === 3,
      "the rows to be sent",
    );
    expect(rail.sent.map(({ key, seq }) => [key, seq])).toEqual([1, 2, 3].map((seq) => ["k", seq]));
    await until(
      () => publishing.fate("transfers", event),
      ({ status }) => status === "SENT",
      "the event to arrive",
    );
    const told = await rita.until((events) => events.some(({ data }) => data["event_type"] === "COMMERCIAL_APPROVED"));
    expect(told.map(({ data }) => data["capacity_request_id"])).toContain(request);
    await rita.close();
  });

  test("leaves nothing of one that is rolled back in its second phase, not even a number", async () => {
    const stream = `rolled_back_${version}`;
    await publishing.endpoint("hooks");
    const rail = await sleepingRelay(stream);
    const client = await db.superuser.connect();
    await client.query("begin");
    const { request, event } = await produce(client, stream, "undone");
    await client.query("prepare transaction 'undone'");
    await client.query("rollback prepared 'undone'");
    expect(await rowsOf(client, "select from capacity.requests where id = $1", [request])).toEqual([]);
    expect(await publishing.fates("transfers", [event])).toEqual([]);
    await produce(client, stream, "redone");
    await until(
      () => rail.sent.map(({ seq }) => seq),
      (sent) => sent.length === 3,
      "the rows to be sent",
    );
    expect(rail.sent.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test("delays nobody else while one is left open", async () => {
    const stream = `open_${version}`;
    await publishing.endpoint("hooks");
    const rail = await sleepingRelay(stream);
    const rita = await hearRita();
    const client = await db.superuser.connect();
    await client.query("begin");
    await produce(client, stream, "left open");
    await client.query("prepare transaction 'left open'");

    const other = await workflow.create({ requester: "rita" });
    await client.query("select outbox.enqueue($1, 'another key', 'other', 'other', 'probe', '{}')", [stream]);
    const [published] = await publishing.publish("transfers", envelope({ subject: "another" }));
    await until(
      () => rail.sent.map(({ key }) => key),
      (sent) => sent.includes("another key"),
      "the other key to be sent",
    );
    await until(
      () => publishing.fate("transfers", published?.id ?? ""),
      ({ status }) => status === "SENT",
      "the other event to arrive",
    );
    await rita.until((events) => events.some(({ data }) => data["capacity_request_id"] === other.id));
    expect(rail.sent.map(({ key }) => key)).toEqual(["another key"]);
    await client.query("rollback prepared 'left open'");
    await rita.close();
  });

  test("notifies relays immediately for producers who ask for it", async () => {
    const stream = `asked_${version}`;
    const rail = await sleepingRelay(stream);
    const client = await db.superuser.connect();
    const enqueued = (nth: number) =>
      client.query("select outbox.enqueue($1, 'k', 'told', $2, 'probe', '{}')", [stream, String(nth)]);
    await client.query("listen outbox_pending");
    const heard: string[] = [];
    client.on("notification", ({ payload }) => heard.push(payload ?? ""));
    await enqueued(1);
    await client.query("set outbox.notify = 'on'");
    await enqueued(2);
    await client.query("set outbox.notify = 'off'");
    await enqueued(3);
    await client.query("select 1");
    expect(heard).toEqual([stream]);
    await until(
      () => rail.sent.length,
      (sent) => sent === 3,
      "the rows to be sent",
    );
    expect(relay?.server).toMatchObject({ notify: false });
  });
});
