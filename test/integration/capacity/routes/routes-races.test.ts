/**
 * Named interleavings of people who change endpoints, relays that disable one, and decisions, which read where events go: only changes of
 * the same endpoint wait for each other, and every committed change is routed.
 */
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createDrainer, type DrainReport } from "../../../../src/outbox/relay/drain.ts";
import { verify } from "../../../../src/capacity/index.ts";
import { POSTGRES_VERSIONS, type TestClient, type TestRole } from "../../../helpers/database.ts";
import { eventTypes } from "../reduce/model.ts";
import { oneOf, refusalOf, rowsOf } from "../harness.ts";
import { Publishing } from "../../webhooks/harness.ts";
import { Endpoint, startRouting } from "./routing.ts";

const all = eventTypes.toSorted();
const effectOf = async (endpoint: Endpoint): Promise<string> => `event:${(await endpoint.row()).id}`;

describe.each(POSTGRES_VERSIONS)("concurrent changes of routes on PostgreSQL %i", async (version) => {
  const routing = await startRouting(version);
  const { workflow } = routing;
  const { db } = workflow;
  const publishing = new Publishing(db);
  let control: TestClient;

  beforeAll(async () => {
    control = await routing.control();
    await routing.begin();
  });
  beforeEach(async () => {
    await rowsOf(workflow.superuser, "delete from webhooks.endpoints");
    await rowsOf(workflow.superuser, "delete from capacity.subscriptions");
    const left = "array(select outbox_id from outbox.pending union all select outbox_id from outbox.dead)";
    await rowsOf(workflow.superuser, `select outbox.skip(${left}, 'tests', 'between tests')`);
  });

  /** A connection that waits at most a second for a lock, in a transaction if wanted. */
  async function impatient(role: TestRole, begin?: "begin"): Promise<TestClient> {
    const client = await db.as(role).connect();
    await client.query("set lock_timeout = '1s'");
    if (begin !== undefined) await client.query(begin);
    onTestFinished(async () => {
      await client.query("rollback");
      await client.end();
    });
    return client;
  }

  const asWanted = async (): Promise<void> => {
    expect(await routing.answered()).toEqual(await routing.wanted());
    const findings: unknown[] = [];
    for await (const batch of verify(control)) findings.push(...batch.findings);
    expect(findings).toEqual([]);
  };
  const toldOf = async (id: string): Promise<string[]> => {
    const events = await workflow.events<{ effects: string[] }>(id);
    return events.at(-1)!.effects.filter((effect) => effect.startsWith("event:"));
  };

  test.each([
    ["of one workspace", "acme"],
    ["of the installation", undefined],
  ] as const)(
    "two endpoints %s that are changed at the same time, both uncommitted, are both routed",
    async (_whose, owner) => {
      for (const name of ["one", "two"]) await new Endpoint(control, name, owner).put([]);
      const clients = [await impatient("headroom_control", "begin"), await impatient("headroom_control", "begin")];
      const [one, two] = [new Endpoint(clients[0]!, "one", owner), new Endpoint(clients[1]!, "two", owner)];
      await one.put(["*"]);
      await two.put(["capacity.*"]);
      for (const client of clients) await client.query("commit");
      for (const endpoint of [one, two]) {
        expect((await routing.heardBy(await effectOf(endpoint))).acme).toEqual(all);
      }
      await asWanted();
    },
  );

  test("two endpoints of the installation that are made at the same time, and two subscriptions, are all routed", async () => {
    const clients = [await impatient("headroom_control", "begin"), await impatient("headroom_control", "begin")];
    const made = clients.map((client, n) => new Endpoint(client, `new-${n}`));
    for (const [n, client] of clients.entries()) {
      await made[n]!.put(["*"]);
      await rowsOf(client, "select capacity.put_subscription('acme', $1)", [`file-${n}`]);
    }
    for (const client of clients) await client.query("commit");
    const effects = [...(await Promise.all(made.map(effectOf))), "event:file:file-0", "event:file:file-1"];
    const { id } = await workflow.create();
    expect((await toldOf(id)).toSorted()).toEqual(effects.toSorted());
    await asWanted();
  });

  test("two changes of one endpoint run one after the other, and the later one's topics are routed", async () => {
    const name = "contested";
    await new Endpoint(control, name, "acme").put(["*"]);
    const [first, second] = await db.twoConnections("headroom_control");
    await first.query("begin");
    await new Endpoint(first, name, "acme").put([]);
    const later = new Endpoint(second, name, "acme");
    const waiting = later.put(["capacity.request.request_submitted"]);
    await db.waitUntilBlocked(second);
    await first.query("commit");
    await waiting;
    expect(await routing.heardBy(await effectOf(later))).toEqual({ acme: ["REQUEST_SUBMITTED"], globex: [] });
    await asWanted();
  });

  test("a subscription that is removed and put at the same time is routed as the later change left it", async () => {
    await rowsOf(control, "select capacity.put_subscription('acme', 'billing')");
    const [first, second] = await db.twoConnections("headroom_control");
    await rowsOf(first, "begin");
    await rowsOf(first, "select capacity.remove_subscription('acme', 'billing')");
    const waiting = rowsOf(
      second,
      `select capacity.put_subscription('acme', 'billing', '{"event_types": ["CANCEL_APPROVED"]}')`,
    );
    await db.waitUntilBlocked(second);
    await rowsOf(first, "commit");
    await waiting;
    expect(await routing.heardBy("event:file:billing")).toEqual({ acme: ["CANCEL_APPROVED"], globex: [] });
    await asWanted();
  });

  test("a change that is rolled back changes no route", async () => {
    const endpoint = new Endpoint(control, "steady", "acme");
    await endpoint.put(["*"]);
    const client = await impatient("headroom_control", "begin");
    await new Endpoint(client, "steady", "acme").remove();
    await client.query("rollback");
    expect((await routing.heardBy(await effectOf(endpoint))).acme).toEqual(all);
    await asWanted();
  });

  test("a decision sends to an endpoint that is being disabled, waits for nobody, and the next one does not send to it", async () => {
    const endpoint = new Endpoint(control, "closing", "acme");
    await endpoint.put(["*"]);
    const effect = await effectOf(endpoint);
    const { id } = await workflow.create();
    const person = await impatient("headroom_control", "begin");
    await new Endpoint(person, "closing", "acme").disable();
    const client = await impatient("postgres");
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { client });
    expect(await toldOf(id)).toEqual([effect]);
    await person.query("commit");
    await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess", { client });
    expect(await toldOf(id)).toEqual([]);
    await asWanted();
  });

  test("an uncommitted decision does not block disabling, and what it named has its row", async () => {
    const endpoint = new Endpoint(control, "closing", "acme");
    await endpoint.put(["*"]);
    const { id } = await workflow.create();
    const client = await impatient("postgres", "begin");
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { client });
    await new Endpoint(await impatient("headroom_control"), "closing", "acme").disable();
    await client.query("commit");
    expect(await toldOf(id)).toEqual([await effectOf(endpoint)]);
    await asWanted();
  });

  test("a relay disables an endpoint while a person changes another, and skips one that a person is changing", async () => {
    const [mine, theirs] = [new Endpoint(control, "mine", "acme"), new Endpoint(control, "theirs", "acme")];
    await mine.put(["*"]);
    await theirs.put(["*"]);
    const person = await impatient("headroom_control", "begin");
    await new Endpoint(person, "theirs", "acme").put(["capacity.request.cancel_approved"]);
    const relay = await impatient("headroom_executor");
    expect(await mine.gone(relay)).toBe(true);
    expect(await theirs.gone(relay)).toBe(false);
    await person.query("commit");
    expect(await routing.heardBy(await effectOf(mine))).toEqual({ acme: [], globex: [] });
    expect((await routing.heardBy(await effectOf(theirs))).acme).toEqual(["CANCEL_APPROVED"]);
    await asWanted();
  });

  test("a person who changes an endpoint that a relay is disabling waits only for the relay, and the person's change stays", async () => {
    const endpoint = new Endpoint(control, "both", "acme");
    await endpoint.put(["*"]);
    const [relay, person] = [await db.as("headroom_executor").connect(), await routing.control()];
    await relay.query("begin");
    expect(await endpoint.gone(relay)).toBe(true);
    const enabled = new Endpoint(person, "both", "acme").enable();
    await db.waitUntilBlocked(person);
    await relay.query("commit");
    await enabled;
    expect((await routing.heardBy(await effectOf(endpoint))).acme).toEqual(all);
    await asWanted();
  });

  async function deliver(): Promise<DrainReport> {
    const connectionString = db.as("headroom_executor").url;
    const drainer = createDrainer({ connectionString, rails: [publishing.rail()], streams: ["capacity"] });
    onTestFinished(() => drainer.close());
    return drainer.drain();
  }

  test.each([
    ["of a workspace", "acme"],
    ["of the installation", undefined],
  ] as const)("a receiver, %s, that tells a relay that it is gone is sent no further event", async (_whose, owner) => {
    const { id, receiver } = await publishing.endpoint("leaving", owner === undefined ? {} : { workspaceId: owner });
    receiver.script.push({ kind: "status", status: 410 });
    const request = await workflow.create();
    expect(await toldOf(request.id)).toEqual([`event:${id}`]);
    expect(await deliver()).toMatchObject({ failed: 1, delivered: 0 });
    await workflow.apply(request.id, "COMMERCIAL_APPROVED", "cora");
    expect(await toldOf(request.id)).toEqual([]);
    await asWanted();
    await rowsOf(control, "select webhooks.enable_endpoint('leaving', $1)", [owner ?? null]);
    await workflow.apply(request.id, "TECH_REVIEW_APPROVED", "tess");
    expect(await toldOf(request.id)).toEqual([`event:${id}`]);
    expect(await deliver()).toMatchObject({ delivered: 1 });
  });

  test("where the layer above fails to hear of it, the relay settles, and the endpoint is disabled at the next such answer", async () => {
    const { id, receiver } = await publishing.endpoint("leaving", { workspaceId: "acme" });
    const stateOf = () => oneOf(control, "select enabled, disabled_code from webhooks.endpoints where id = $1", [id]);
    receiver.script.push({ kind: "status", status: 410 }, { kind: "status", status: 410 });
    const failing =
      "create trigger failing before delete on capacity.routes for each row execute function capacity.refuse_change()";
    await rowsOf(workflow.superuser, failing);
    const first = await workflow.create();
    expect(await deliver()).toMatchObject({ failed: 1 });
    await rowsOf(workflow.superuser, "drop trigger failing on capacity.routes");
    const dead = "select error_code from outbox.list_dead() where instruction_id = $1";
    expect(await rowsOf(control, dead, [`${first.id}#1`])).toEqual([{ error_code: "http_410" }]);
    expect(await stateOf()).toEqual({ enabled: true, disabled_code: null });
    await asWanted();
    await workflow.create();
    expect(await deliver()).toMatchObject({ failed: 1 });
    expect(await stateOf()).toEqual({ enabled: false, disabled_code: "gone" });
    await asWanted();
  });

  test("while a migration rebuilds the routes nobody changes an endpoint, a relay gives up soon, and decisions continue", async () => {
    const endpoint = new Endpoint(control, "kept", "acme");
    await endpoint.put(["*"]);
    const migration = await impatient("headroom_owner", "begin");
    await migration.query("select capacity.route_all()");
    const relay = await db.as("headroom_executor").connect();
    expect(await refusalOf(endpoint.gone(relay))).toMatchObject({ code: "55P03" });
    const person = await routing.control();
    const changed = new Endpoint(person, "kept", "acme").put(["capacity.request.cancel_approved"]);
    await db.waitUntilBlocked(person);
    const { id } = await workflow.create({}, await impatient("postgres"));
    expect(await toldOf(id)).toEqual([await effectOf(endpoint)]);
    await migration.query("commit");
    await changed;
    expect((await routing.heardBy(await effectOf(endpoint))).acme).toEqual(["CANCEL_APPROVED"]);
    await asWanted();
  });
});
