/** What operators see of notifications and do about them: lists, sending again, suppressed addresses, producers, metrics. */
import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOnDemandRelay } from "../../../src/cli/relay/on-demand.ts";
import { withConnection } from "../../../src/db/connect.ts";
import {
  addProducer,
  channelFigures,
  getNotification,
  liftSuppression,
  listNotifications,
  listProducers,
  listSuppressions,
  notify,
  notifyGauges,
  removeProducer,
  resend,
  suppressAddress,
} from "../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { probeRail } from "../outbox/relay/rails.ts";
import { somebody, stages, tell } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("oversight of notifications on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const control = workflow.db.as("headroom_control").pool;
  const actor = "otto";
  const figuresOf = async () => (await channelFigures(control)).find(({ channel }) => channel === "slack");

  test("a list has the newest first, by person, status and subject; one is shown with each of its channels", async () => {
    const member = await somebody(db);
    const told = await notify(control, {
      workspaceId: "acme",
      member,
      key: "k",
      title: "One",
      body: "B",
      channels: ["in-app", "slack"],
    });
    const id = told.outcome === "told" ? told.id : "";
    await tell(db, member, { title: "Two", category: "requests", about: "CR-7" });
    const titles = async (options: object): Promise<unknown> => {
      const listed = await listNotifications(control, options);
      return listed.outcome === "listed" ? listed.notifications.map(({ title }) => title) : listed.code;
    };
    expect(await titles({ recipient: member })).toEqual(["Two", "One"]);
    expect(await titles({ recipient: member, limit: 1 })).toEqual(["Two"]);
    expect(await titles({ recipient: member, about: "CR-7" })).toEqual(["Two"]);
    expect(await titles({ recipient: member, status: "pending" })).toEqual([]);
    expect(await titles({ recipient: member, workspaceId: "globex" })).toEqual([]);
    expect(await titles({ limit: 0 })).toBe("invalid_input");
    expect(await getNotification(control, id)).toMatchObject({
      outcome: "found",
      notification: {
        key: "k",
        status: "delivered",
        parts: [
          { channel: "in-app", stage: "shown", status: "delivered" },
          { channel: "slack", stage: "no_address", status: "failed", tries: 0 },
        ],
      },
    });
    expect(await getNotification(control, randomUUID())).toMatchObject({ outcome: "refused", code: "not_found" });
  });

  test("a failed notification is sent again once possible, by the same channel or another, and nothing in flight is sent twice", async () => {
    const member = await somebody(db);
    await rowsOf(db, "update directory.members set email = null where id = $1", [member]);
    const id = await tell(db, member, { channels: ["in-app", "email"] });
    expect(await stages(db, member)).toEqual(["A title email no_address", "A title in-app shown"]);
    expect(await resend(control, id, { actor })).toMatchObject({ outcome: "found" });
    expect(await stages(db, member)).toEqual(["A title email no_address", "A title in-app shown"]);
    await rowsOf(db, "update directory.members set email = 'new@acme.example' where id = $1", [member]);
    expect(await resend(control, id, { actor })).toMatchObject({
      notification: { parts: [{ channel: "email", stage: "waiting" }, { channel: "in-app" }] },
    });
    const again: readonly (readonly [object, string])[] = [
      [{ actor }, "conflict"],
      [{ actor, channel: "email" }, "conflict"],
      [{ actor, channel: "in-app" }, "invalid_input"],
      [{ actor: "" }, "invalid_input"],
    ];
    for (const [input, code] of again) {
      expect(await resend(control, id, input as { actor: string })).toMatchObject({ outcome: "refused", code });
    }
    await rowsOf(db, "update directory.members set slack_user_id = 'U0' || upper(left(md5(id), 8)) where id = $1", [
      member,
    ]);
    expect(await resend(control, id, { actor, channel: "slack" })).toMatchObject({
      notification: { parts: [{ stage: "waiting" }, { stage: "shown" }, { channel: "slack", stage: "waiting" }] },
    });
    expect(await resend(control, randomUUID(), { actor })).toMatchObject({ outcome: "refused", code: "not_found" });
  });

  test("one that failed on every channel is not sent again unless a channel is named", async () => {
    const member = await somebody(db);
    const id = await tell(db, member);
    expect(await resend(control, id, { actor })).toMatchObject({ outcome: "refused", code: "conflict" });
    expect(await resend(control, id, { actor, channel: "email" })).toMatchObject({
      notification: { parts: [{ channel: "email", stage: "waiting" }, { channel: "in-app" }] },
    });
  });

  test("suppressed addresses are listed with the member who has one, and lifted by the address alone", async () => {
    const member = await somebody(db);
    const address = `${member}@acme.example`;
    for (const each of [address, "stranger@elsewhere.example"]) {
      await rowsOf(db, "select notify.suppress('acme', notify.address_mark('acme', $1), 'bounced', 'gone')", [each]);
    }
    const listed = await listSuppressions(control, { workspaceId: "acme" });
    const all = listed.outcome === "listed" ? listed.suppressions : [];
    expect(new Set(all.map(({ memberId }) => memberId))).toEqual(new Set([member, null]));
    expect(JSON.stringify(all)).not.toContain("@");
    expect(await liftSuppression(control, { workspaceId: "acme", address, actor })).toEqual({
      outcome: "done",
      lifted: true,
    });
    expect(await liftSuppression(control, { workspaceId: "acme", address, actor })).toMatchObject({ lifted: false });
    expect(await liftSuppression(control, { workspaceId: "globex", address, actor })).toMatchObject({ lifted: false });
    const lifted = await listSuppressions(control, { workspaceId: "acme", lifted: true });
    expect(
      lifted.outcome === "listed" && lifted.suppressions.find(({ memberId }) => memberId === member),
    ).toMatchObject({
      liftedBy: actor,
    });
  });

  test("an address without a canonical form is suppressed and lifted only where mail went to exactly that address", async () => {
    const address = `M\u00FCller-${randomUUID()}@acme.example`;
    const suppress = () => suppressAddress(control, { workspaceId: "acme", address: ` ${address} `, actor });
    expect(await suppress()).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
      detail: expect.stringContaining("ASCII letters") as string,
    });
    await rowsOf(
      db,
      `insert into notify.deliveries (workspace_id, recipient_kind, recipient, channel, priority, outbox_id, address_mark)
       values ('acme', 'customer', 'before', 'email', 5, gen_random_uuid(), notify.address_mark('acme', $1))`,
      [address],
    );
    expect(await suppress()).toEqual({ outcome: "done", suppressed: true });
    expect(
      await liftSuppression(control, { workspaceId: "acme", address: address.toLowerCase(), actor }),
    ).toMatchObject({ lifted: false });
    expect(await liftSuppression(control, { workspaceId: "acme", address, actor })).toMatchObject({ lifted: true });
  });

  test("a producer notifies people by call and by insert, reads nothing, and can do nothing once it is removed", async () => {
    const role = `app_${randomUUID().slice(0, 8)}`;
    const member = await somebody(db);
    await rowsOf(db, `create role ${role} login password 'x'`);
    onTestFinished(() => rowsOf(db, `drop role ${role}`).then(() => undefined));
    const url = new URL(workflow.db.superuser.url);
    [url.username, url.password] = [role, "x"];
    const call = "select public.notify('acme', $1, $2, 'T', 'B') as id";
    const insert =
      "insert into public.notification_outbox (workspace_id, user_id, idempotency_key, title, body) values ('acme', $1, $2, 'T', 'B') returning id";
    const asApp = (text: string, values: unknown[] = []) =>
      withConnection(url.href, (client) => oneOf<{ id: string }>(client, text, values));
    await expect(asApp(call, [member, "k"])).rejects.toThrow(/permission denied/);
    expect(await addProducer(control, role, actor)).toEqual({ outcome: "done", changed: true });
    expect(await addProducer(control, role, actor)).toEqual({ outcome: "done", changed: false });
    const { id } = await asApp(call, [member, "k"]);
    expect(await asApp(insert, [member, "k"])).toEqual({ id });
    await expect(asApp("select id from public.notification_outbox limit 1")).rejects.toThrow(/permission denied/);
    await expect(asApp("update public.notification_outbox set title = 'x' where true")).rejects.toThrow(
      /permission denied/,
    );
    expect(await listProducers(control)).toMatchObject([{ role, addedBy: actor, present: true }]);
    expect(await removeProducer(control, role)).toEqual({ outcome: "done", changed: true });
    expect(await removeProducer(control, role)).toEqual({ outcome: "done", changed: false });
    await expect(asApp(insert, [member, "l"])).rejects.toThrow(/permission denied/);
  });

  test.each([
    ["no_such_role", "not_found"],
    ["", "not_found"],
    ["anon", "not_allowed"],
    ["authenticated", "not_allowed"],
    ["service_role", "not_allowed"],
    ["authenticator", "not_allowed"],
    ["headroom_gateway", "not_allowed"],
    ["headroom_owner", "not_allowed"],
    ["pg_read_all_data", "not_allowed"],
  ])("the role %s does not become a producer", async (role, code) => {
    expect(await addProducer(control, role, actor)).toMatchObject({ outcome: "refused", code });
  });

  test("the metrics of a channel count what is held, due, sent and failed", async () => {
    const before = await figuresOf();
    expect(before).toEqual({
      channel: "slack",
      held: 0,
      oldestDueSeconds: 0,
      sent: 0,
      failed: 0,
      waiting: expect.any(Number) as number,
      retries: 0,
      medianSeconds: 0,
      slowestSeconds: 0,
      suppressed: 0,
    });
    await tell(db, "carl", { category: "reviews", channels: ["slack"], about: "CR-9" });
    await tell(db, "vera", { channels: ["slack"] });
    await rowsOf(
      db,
      "update notify.parts set due_at = now() - interval '1 hour' where recipient = 'carl' and state = 'held'",
    );
    expect(await figuresOf()).toMatchObject({ held: 1, waiting: (before?.waiting ?? 0) + 1 });
    expect((await figuresOf())?.oldestDueSeconds).toBeGreaterThanOrEqual(3_600);
    const executor = workflow.db.as("headroom_executor");
    const slack = probeRail({ name: "slack", capability: "lookup", lookup: () => ({ kind: "absent" }) });
    const relay = createOnDemandRelay(executor.url, [slack], () => undefined);
    onTestFinished(() => relay.close());
    await relay.drain();
    // The turn first released what is due, so both were sent.
    expect(await figuresOf()).toMatchObject({ held: 0, waiting: 0, sent: (before?.waiting ?? 0) + 2, failed: 0 });
    const text = await notifyGauges(executor.pool);
    expect(text).toMatch(/^headroom_notify_recent\{channel="slack",status="sent"\} [1-9]/m);
    expect(text).toMatch(/^headroom_notify_success_ratio\{channel="webhook"\} 1$/m);
    expect(text).toMatch(/^headroom_notify_suppressed\{channel="email"\} \d+$/m);
  });

  test("operators can only read, and only control acts", async () => {
    const executor = workflow.db.as("headroom_executor").pool;
    await expect(listNotifications(executor)).rejects.toThrow(/permission denied/);
    const auditor = workflow.db.as("headroom_auditor").pool;
    expect(await listNotifications(auditor)).toMatchObject({ outcome: "listed" });
    await expect(resend(auditor, randomUUID(), { actor })).rejects.toThrow(/permission denied/);
    expect(await codeOf(rowsOf(control, "select notify.resend(null, null, 'x')"))).toBe("not_found");
  });
});
