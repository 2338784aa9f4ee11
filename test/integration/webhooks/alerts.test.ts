/** Alerts on dead letters, from the death of a row to what a receiver gets, by a real relay. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listAlerts, putAlert, raiseAlerts, removeAlert } from "../../../src/webhooks/alerts.ts";
import { disableEndpoint, putEndpoint, removeEndpoint } from "../../../src/webhooks/endpoints.ts";
import type { TestClient } from "../../helpers/database.ts";
import { headroom } from "../cli/harness.ts";
import { startScriptedServer, type ScriptedServer } from "../rails/scripted-server.ts";
import { probeRail } from "../outbox/relay/rails.ts";
import { createStage, until } from "../outbox/relay/stage.ts";
import { refusalOf } from "../outbox/queries.ts";
import { secretKey, storedRail } from "./stored-rail.ts";

const stage = await createStage();
const rejecting = probeRail({ name: "refusing", send: () => ({ kind: "rejected", code: "no_way", reason: "No." }) });
const webhook = storedRail(stage.db.as("headroom_executor").url);
const routingKey = "R0UT1NGKEY0F0URS";
let control: TestClient;
let receiver: ScriptedServer;

interface Said {
  readonly type?: string;
  readonly event_action?: string;
  readonly dedup_key?: string;
  readonly routing_key?: string;
  readonly data?: { readonly dead: number };
  readonly payload?: unknown;
}

beforeAll(async () => {
  control = await stage.db.as("headroom_control").connect();
  await stage.declare(rejecting);
});
beforeEach(async () => {
  receiver = await startScriptedServer();
  receiver.script.push(...Array.from({ length: 50 }, () => ({ status: 202, body: {} })));
  await putEndpoint(control, "pager", { url: `${receiver.url}/alerts` }, { key: secretKey, allowPrivate: true });
});
afterEach(async () => {
  await stage.query("delete from webhooks.alerts");
  await receiver.close();
});
afterAll(async () => {
  await control.end();
  await webhook.close();
});

/** A stream with that many refused rows, by a relay that does nothing else. */
async function buried(count: number, name?: string): Promise<{ readonly stream: string; readonly ids: string[] }> {
  const stream = name ?? (await stage.stream({ ordered: false }));
  const rows = Array.from({ length: count }, () => ({ stream, rail: "refusing" }));
  const ids = (await stage.enqueueMany(rows)).map(({ outboxId }) => outboxId);
  const relay = await stage.run({ rails: [rejecting], streams: [stream] });
  await stage.untilStates(ids, "FAILED");
  await relay.stop();
  return { stream, ids };
}

const skip = (ids: readonly string[]) => stage.query("select outbox.skip($1, 'otto', 'not needed any more')", [ids]);
const raise = async (): Promise<number> => {
  const [row] = await stage.query<{ told: number }>("select webhooks.raise_alerts() as told");
  return row?.told ?? -1;
};
const said = (): Said[] => receiver.requests.map(({ body }) => JSON.parse(body) as Said);

describe("dead letters", () => {
  test("raise one event, and another when the last of them is gone", async () => {
    const { stream, ids } = await buried(3);
    await putAlert(control, "ops", { endpoint: "pager", streams: [stream] });
    await stage.run({ rails: [webhook.rail], streams: ["alerts"], reapMs: 100, upkeepTasks: [raiseAlerts] });
    await until(said, (all) => all.length === 1, "the alert");
    expect(said()[0]).toMatchObject({
      specversion: "1.0",
      type: "headroom.dead_letters.raised",
      source: "/headroom",
      subject: `${stream}/refusing`,
      data: { alert: "ops", stream, rail: "refusing", dead: 3, parked: 0, codes: { no_way: 3 } },
    });
    expect(receiver.requests[0]?.headers["webhook-signature"]).toMatch(/^v1,/);
    expect(await listAlerts(control)).toMatchObject([{ name: "ops", raised: 1, raisedSince: expect.any(Date) }]);

    await skip(ids.slice(1));
    expect(await raise()).toBe(0);
    await skip(ids.slice(0, 1));
    await until(said, (all) => all.length === 2, "the end of the alert");
    expect(said()[1]).toMatchObject({ type: "headroom.dead_letters.cleared", data: { dead: 0 } });
    expect(await listAlerts(control)).toMatchObject([{ name: "ops", raised: 0, raisedSince: null }]);
  });

  test("open an incident at PagerDuty and close the same one, and its key is in no row", async () => {
    const { stream, ids } = await buried(1);
    await putAlert(control, "duty", { endpoint: "pager", template: "pagerduty", routingKey, streams: [stream] });
    await stage.run({ rails: [webhook.rail], streams: ["alerts"], reapMs: 100, upkeepTasks: [raiseAlerts] });
    await until(said, (all) => all.length === 1, "the incident");
    await skip(ids);
    await until(said, (all) => all.length === 2, "its end");
    const [opened, closed] = said();
    expect(opened).toMatchObject({
      routing_key: routingKey,
      event_action: "trigger",
      payload: {
        summary: `1 dead letter in stream ${stream} on rail refusing`,
        severity: "error",
        class: "dead_letters",
      },
    });
    expect(closed).toEqual({ routing_key: routingKey, event_action: "resolve", dedup_key: opened?.dedup_key });
    expect(opened?.dedup_key).toContain(`${stream}:refusing`);
    const rows = await stage.query(
      "select from outbox.payloads p where p::text like $1 union all select from outbox.attempts a where a::text like $1",
      [`%${routingKey}%`],
    );
    expect(rows).toEqual([]);
  });

  test("are reported once, and more of them only after the alert's quiet time", async () => {
    const { stream } = await buried(1);
    await putAlert(control, "ops", { endpoint: "pager", streams: [stream], repeatMinutes: 30 });
    expect(await raise()).toBe(1);
    expect(await raise()).toBe(0);
    await buried(1, stream);
    expect(await raise()).toBe(0);
    await stage.query("update webhooks.alerts_raised set said_at = said_at - interval '31 minutes'");
    expect(await raise()).toBe(1);
    await stage.query("update webhooks.alerts_raised set said_at = said_at - interval '31 minutes'");
    expect(await raise()).toBe(0);
  });

  test("are reported by one relay only, when two check at the same moment", async () => {
    const { stream } = await buried(1);
    await putAlert(control, "ops", { endpoint: "pager", streams: [stream] });
    const [first, second] = [
      await stage.db.as("headroom_executor").connect(),
      await stage.db.as("headroom_executor").connect(),
    ];
    try {
      await first.query("begin");
      const told = await first.query<{ told: number }>("select webhooks.raise_alerts() as told");
      const meanwhile = await second.query<{ told: number }>("select webhooks.raise_alerts() as told");
      expect([told.rows[0]?.told, meanwhile.rows[0]?.told]).toEqual([1, 0]);
      await first.query("rollback");
      // What was rolled back was never reported, so the next one reports it.
      const after = await second.query<{ told: number }>("select webhooks.raise_alerts() as told");
      expect(after.rows[0]?.told).toBe(1);
    } finally {
      await Promise.all([first.end(), second.end()]);
    }
  });

  test("of the alerts' own stream raise nothing", async () => {
    // Only the engine writes this stream, so the row is the engine's own.
    const [row] = await stage.query<{ id: string }>(
      "select outbox_id as id from outbox.add_row(false, null, 'alerts', 'k', 'i', 'x', 'refusing', '{}')",
    );
    const relay = await stage.run({ rails: [rejecting], streams: ["alerts"] });
    await stage.untilStates([row!.id], "FAILED");
    await relay.stop();
    await putAlert(control, "ops", { endpoint: "pager" });
    const raisedFor = await stage.query<{ name: string }>("select d.stream as name from outbox.dead_by_rail() d");
    expect(raisedFor.map(({ name }) => name)).not.toContain("alerts");
    await skip(
      (await stage.query<{ id: string }>("select outbox_id as id from outbox.list_dead('alerts')")).map(({ id }) => id),
    );
  });
});

describe("an alert", () => {
  test.each<[string, string, Parameters<typeof putAlert>[2]]>([
    ["an endpoint that does not exist", "ops", { endpoint: "nobody" }],
    ["no endpoint at all", "ops", {}],
    ["a stream that does not exist", "ops", { endpoint: "pager", streams: ["nowhere"] }],
    ["its own stream", "ops", { endpoint: "pager", streams: ["alerts"] }],
    ["a bad name", "Ops!", { endpoint: "pager" }],
    ["an invalid quiet time", "ops", { endpoint: "pager", repeatMinutes: 0 }],
    ["PagerDuty without its key", "ops", { endpoint: "pager", template: "pagerduty" }],
    ["a key although it is not for PagerDuty", "ops", { endpoint: "pager", routingKey }],
  ])("with %s is refused, and nothing is kept", async (_what, name, changes) => {
    await expect(putAlert(control, name, changes)).rejects.toMatchObject({ httpStatus: expect.toBeOneOf([400, 404]) });
    expect(await listAlerts(control)).toEqual([]);
  });

  test("shows its key to nobody", async () => {
    await putAlert(control, "duty", { endpoint: "pager", template: "pagerduty", routingKey });
    expect(JSON.stringify(await listAlerts(control))).not.toContain(routingKey);
    for (const role of ["headroom_control", "headroom_auditor", "headroom_executor"] as const) {
      const read = stage.db.as(role).pool.query("select routing_key from webhooks.alerts");
      expect(await refusalOf(read)).toMatchObject({ code: "42501" });
    }
  });

  test("prevents its endpoint from being removed or disabled: the refusal lists the alerts that would fall silent", async () => {
    await putAlert(control, "ops", { endpoint: "pager" });
    await removeAlert(control, "ops");
    await expect(removeAlert(control, "ops")).rejects.toMatchObject({ code: "not_found" });
    await putAlert(control, "ops", { endpoint: "pager" });
    await expect(removeEndpoint(control, "pager")).rejects.toMatchObject({ code: "conflict", detail: "ops" });
    await expect(disableEndpoint(control, "pager")).rejects.toMatchObject({ code: "conflict", detail: "ops" });
    expect(await listAlerts(control)).toMatchObject([{ name: "ops", endpoint: "pager" }]);
    await removeAlert(control, "ops");
    await removeEndpoint(control, "pager");
  });

  test("is managed on the command line, with its key from the environment", async () => {
    const database = ["--database-url", stage.db.url];
    const environment = { env: { PAGERDUTY_ROUTING_KEY: routingKey } };
    const put = await headroom(
      [
        "outbox",
        "alerts",
        "put",
        "duty",
        "--endpoint",
        "pager",
        "--template",
        "pagerduty",
        "--stream",
        "capacity",
        ...database,
      ],
      environment,
    );
    expect(put).toMatchObject({ status: 0, err: "" });
    const listed = await headroom(["outbox", "alerts", "list", ...database]);
    expect(listed.out).toMatch(/duty\s+pager\s+pagerduty\s+capacity\s+60 min\s+no/);
    expect(listed.out).not.toContain(routingKey);
    const again = await headroom(["outbox", "alerts", "put", "duty", "--all-streams", "--json", ...database]);
    expect(JSON.parse(again.out)).toEqual({ name: "duty" });
    expect(await listAlerts(control)).toMatchObject([{ name: "duty", streams: null }]);
    expect(await headroom(["outbox", "alerts", "remove", "duty", ...database])).toMatchObject({ status: 0 });
    expect(await headroom(["outbox", "alerts", "remove", "duty", ...database])).toMatchObject({ status: 1 });
  });
});
