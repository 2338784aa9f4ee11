/** Rows belong to a tenant and go to an endpoint by its identity: a name that a stranger chooses has no effect on them. */
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { closeRails } from "../../../src/cli/relay/close-rails.ts";
import { openSidePool } from "../../../src/db/side-pool.ts";
import { loadRails } from "../../../src/cli/relay/rails.ts";
import { createDrainer, type DrainReport } from "../../../src/outbox/relay/drain.ts";
import { putEndpoint, removeEndpoint } from "../../../src/webhooks/endpoints.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { messageOf, notAborted } from "../rails/messages.ts";
import { startReceiver } from "../rails/receiver/receiver.ts";
import { createPublishing, envelope } from "./harness.ts";
import { refusalOf, refusedAs, rowsOf } from "../outbox/queries.ts";
import { secretKey } from "./stored-rail.ts";

describe.each(POSTGRES_VERSIONS)("the endpoint of a row on PostgreSQL %i", async (version) => {
  const events = await createPublishing(version);
  const { db } = events;

  beforeEach(async () => {
    await events.query(
      "insert into directory.workspaces (id, name) values ('acme', 'Acme'), ('globex', 'Globex') on conflict do nothing",
    );
    await events.query(
      "select outbox.skip(array(select outbox_id from outbox.pending union all select outbox_id from outbox.dead), 'tests', 'between tests')",
    );
  });

  async function deliver(): Promise<DrainReport> {
    const drainer = createDrainer({
      connectionString: db.as("headroom_executor").url,
      rails: [events.rail()],
      streams: ["@built-in"],
    });
    onTestFinished(() => drainer.close());
    return drainer.drain();
  }

  /** A row of the workflow, as its functions write them. */
  const addressed = async (tenant: string | null, destination: string): Promise<string> => {
    const [row] = await events.query<{ id: string }>(
      `select outbox_id as id from outbox.add_row(false, $1, 'capacity', 'k', gen_random_uuid()::text, 'x', 'webhook', '{"n": 1}', p_destination => $2)`,
      [tenant, destination],
    );
    return row!.id;
  };

  const codeOf = async (id: string): Promise<string | undefined> =>
    (
      await rowsOf<{ error_code: string }>(
        db.as("headroom_control").pool,
        "select error_code from outbox.list_dead() where outbox_id = $1",
        [id],
      )
    )[0]?.error_code;

  test("a stranger's endpoint of the same name gets nothing, whether made before or while a row waits", async () => {
    const own = await events.endpoint("crm", { workspaceId: "acme" });
    const before = await events.endpoint("crm", { workspaceId: "globex" });
    await addressed("acme", `endpoint:${own.id}`);
    const installation = await events.endpoint("crm");
    expect(await deliver()).toMatchObject({ delivered: 1 });
    expect(own.receiver.book.requests).toHaveLength(1);
    expect([...before.receiver.book.requests, ...installation.receiver.book.requests]).toEqual([]);
  });

  test("an endpoint that is made under the name of a removed one inherits nothing, not even by a redrive", async () => {
    await events.endpoint("heir");
    const [event] = await events.publish("transfers", envelope());
    const control = await db.as("headroom_control").connect();
    onTestFinished(() => control.end());
    await removeEndpoint(control, "heir");
    const { receiver } = await events.endpoint("heir");
    expect(await deliver()).toMatchObject({ failed: 1 });
    const [row] = await events.query<{ id: string }>(
      "select outbox_ids[1] as id from webhooks.envelopes where id = $1",
      [event!.id],
    );
    expect(await codeOf(row!.id)).toBe("unknown_endpoint");
    await rowsOf(db.as("headroom_control").pool, "select outbox.redrive(array[$1]::uuid[], 'ana', 'again')", [row!.id]);
    expect(await deliver()).toMatchObject({ failed: 1 });
    expect(receiver.book.requests).toEqual([]);
  });

  test("a workspace's endpoint is sent that workspace's rows only, the installation's any", async () => {
    const acme = await events.endpoint("acme", { workspaceId: "acme" });
    const all = await events.endpoint("all");
    const strange = [await addressed("globex", `endpoint:${acme.id}`), await addressed(null, `endpoint:${acme.id}`)];
    await addressed("globex", `endpoint:${all.id}`);
    await addressed(null, `endpoint:${all.id}`);
    expect(await deliver()).toMatchObject({ delivered: 2, failed: 2 });
    expect(await Promise.all(strange.map(codeOf))).toEqual(["unknown_endpoint", "unknown_endpoint"]);
    expect(acme.receiver.book.requests).toEqual([]);
    expect(all.receiver.book.requests).toHaveLength(2);
  });

  test("a relay may only reach the private network for endpoints that an operator marked private", async () => {
    const meant = await events.endpoint("meant", { workspaceId: "acme" });
    const strange = await events.endpoint("strange", { workspaceId: "acme" });
    // As if its name now led to a private address; a literal one would have been refused when it was set.
    await events.query("update webhooks.endpoints set private = false where id = $1", [strange.id]);
    await addressed("acme", `endpoint:${meant.id}`);
    const refused = await addressed("acme", `endpoint:${strange.id}`);
    await deliver();
    expect(meant.receiver.book.requests).toHaveLength(1);
    expect(strange.receiver.book.requests).toEqual([]);
    expect(await codeOf(refused)).toBe("endpoint_invalid");
  });

  test("a new address, and enabling, lift the pause that the previous receiver asked for", async () => {
    const { id, receiver } = await events.endpoint("paused");
    const control = await db.as("headroom_control").connect();
    onTestFinished(() => control.end());
    for (const lift of [
      () => putEndpoint(control, "paused", { url: `${receiver.url}/new` }, { key: secretKey, allowPrivate: true }),
      () => rowsOf(control, "select webhooks.disable_endpoint('paused'), webhooks.enable_endpoint('paused')"),
    ]) {
      await events.publish("transfers", envelope());
      await deliver();
      await events.query(
        "insert into outbox.gates (name, next_slot_at, open_until, failures) values ($1, now() + interval '1 day', now() + interval '1 day', 9) " +
          "on conflict (name) do update set next_slot_at = excluded.next_slot_at, open_until = excluded.open_until, failures = 9, changed_at = clock_timestamp()",
        [`endpoint:${id}`],
      );
      await lift();
      await events.publish("transfers", envelope());
      expect(await deliver()).toMatchObject({ delivered: 1 });
    }
  });

  test.each([
    { type: "capacity.request.customer_confirmed" },
    { type: "Headroom.ping" },
    { source: "/headroom/acme" },
    { source: "/headroom" },
  ])("an application cannot speak in Headroom's name: %j", async (changes) => {
    const refusal = await refusalOf(events.publish("transfers", envelope(changes)));
    expect(refusal).toMatchObject({
      ...refusedAs("invalid_input"),
      message: expect.stringContaining("Headroom's own"),
    });
    expect(
      await events.publish("transfers", envelope({ type: "capacityplan.made", source: "/headrooms" })),
    ).toHaveLength(1);
  });

  test("a removed endpoint's lanes, limits and circuit are its own: the next of that name starts fresh", async () => {
    const first = await events.endpoint("limited");
    await events.query("select outbox.limit_destination($1, 86400000)", [`endpoint:${first.id}`]);
    const control = await db.as("headroom_control").connect();
    onTestFinished(() => control.end());
    await removeEndpoint(control, "limited");
    const second = await events.endpoint("limited");
    await events.publish("transfers", envelope(), envelope());
    expect(await deliver()).toMatchObject({ delivered: 2 });
    expect(second.receiver.book.requests).toHaveLength(2);
  });
});

describe("endpoints of a relay's file", async () => {
  const events = await createPublishing();
  const { db } = events;

  test("have separate names: neither takes a row from an endpoint of the database, nor the other way round", async () => {
    const ofFile = await startReceiver();
    onTestFinished(() => ofFile.close());
    const path = join(tmpdir(), `endpoints-${process.pid}.json`);
    const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
    await writeFile(
      path,
      JSON.stringify({ crm: { url: `${ofFile.url}/crm`, secrets }, "*": { url: `${ofFile.url}/rest`, secrets } }),
    );
    const stored = await events.endpoint("crm");
    const side = openSidePool(db.as("headroom_executor").url);
    onTestFinished(() => side.end());
    const rails = await loadRails(
      {
        endpoints: path,
        webhooks: true,
        allowHttp: true,
        allowPrivate: ["127.0.0.1/32"],
      },
      {
        side,
        log: () => undefined,
        environment: { HEADROOM_SECRET_KEY: secretKey },
      },
    );
    onTestFinished(() => closeRails(rails));
    const rail = rails.find(({ name }) => name === "webhook")!;
    const send = (changes: object): unknown => rail.send({ ...messageOf(), ...changes }, notAborted);

    expect(await send({ destination: `endpoint:${stored.id}` })).toMatchObject({ kind: "delivered" });
    expect(stored.receiver.book.requests).toHaveLength(1);
    for (const changes of [{ destination: "crm" }, { destination: "file:crm" }, { key: "crm:42" }]) {
      expect(await send(changes)).toMatchObject({ kind: "delivered" });
    }
    expect(await send({ destination: "somebody" })).toMatchObject({ kind: "delivered" });
    expect(ofFile.book.requests.map(({ path: asked }) => asked)).toEqual(["/crm", "/crm", "/crm", "/rest"]);
    // Nor does "*" take what was meant for an endpoint that is gone.
    const control = await db.as("headroom_control").connect();
    onTestFinished(() => control.end());
    const gone = await putEndpoint(control, "gone", { url: "https://example.com/" }, { key: secretKey });
    expect(gone.created).toBe(true);
    const [{ id } = { id: "" }] = await events.query<{ id: string }>(
      "select id from webhooks.endpoints where name = 'gone'",
    );
    await removeEndpoint(control, "gone");
    expect(await send({ destination: `endpoint:${id}` })).toMatchObject({ kind: "rejected", code: "unknown_endpoint" });
    expect(stored.receiver.book.requests).toHaveLength(1);
  });
});
