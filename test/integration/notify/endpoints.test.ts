/** The channel webhook: each endpoint of the workspace that takes notifications gets them signed, and the outcome of each is recorded. */
import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { getNotification, notify, resend, type Notification } from "../../../src/notify/index.ts";
import { createDrainer } from "../../../src/outbox/relay/drain.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { Publishing } from "../webhooks/harness.ts";

const topics = ["headroom.notification"];

describe.each(POSTGRES_VERSIONS)("notifications to endpoints on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const hooks = new Publishing(workflow.db);

  const tell = async (key: string = randomUUID(), channels: readonly string[] = ["webhook"]): Promise<string> => {
    const told = await notify(db, {
      workspaceId: "acme",
      member: "rita",
      key,
      title: "The backup is done",
      body: "All <14> databases.",
      actionUrl: "https://backup.example/42",
      channels,
    });
    if (told.outcome !== "told") throw new Error(told.code);
    return told.id;
  };
  const deliver = async (): Promise<void> => {
    await rowsOf(db, "update outbox.pending_unordered set due = now()");
    const drainer = createDrainer({
      connectionString: workflow.db.as("headroom_executor").url,
      rails: [hooks.rail()],
      streams: ["@built-in"],
    });
    onTestFinished(() => drainer.close());
    await drainer.drain();
  };
  const shown = async (id: string): Promise<Notification> => {
    const found = await getNotification(workflow.db.as("headroom_control").pool, id);
    if (found.outcome !== "found") throw new Error(found.code);
    return found.notification;
  };
  const ways = async (id: string): Promise<string[]> =>
    (await shown(id)).parts.map((part) => `${part.channel} ${part.endpoint ?? "-"}: ${part.stage}`);

  test("each subscribed endpoint of the workspace gets one signed envelope, without an address", async () => {
    const first = await hooks.endpoint("first", { topics, workspaceId: "acme" });
    const all = await hooks.endpoint("second", { topics: ["*"], workspaceId: "acme" });
    const others = [
      await hooks.endpoint("requests", { topics: ["capacity.*"], workspaceId: "acme" }),
      await hooks.endpoint("theirs", { topics, workspaceId: "globex" }),
      await hooks.endpoint("ours", { topics: ["*"] }),
    ];
    const id = await tell("backup-1", ["in-app", "webhook"]);
    expect(await tell("backup-1", ["in-app", "webhook"])).toBe(id);
    await deliver();
    for (const { receiver } of [first, all]) {
      expect(receiver.book.requests.map(({ signature }) => signature)).toEqual(["valid"]);
      const { created_at: at } = await oneOf<{ created_at: Date }>(
        db,
        "select created_at from notify.notifications where id = $1",
        [id],
      );
      expect(JSON.parse(receiver.book.requests[0]!.body ?? "")).toEqual({
        specversion: "1.0",
        id,
        source: "/headroom/acme",
        type: "headroom.notification",
        subject: "rita",
        time: at.toISOString(),
        datacontenttype: "application/json",
        data: {
          id,
          workspace_id: "acme",
          member_id: "rita",
          category: "general",
          title: "The backup is done",
          body: "All <14> databases.",
          action_url: "https://backup.example/42",
          created_at: at.toISOString(),
        },
      });
    }
    expect(others.map(({ receiver }) => receiver.book.requests.length)).toEqual([0, 0, 0]);
    expect((await ways(id)).toSorted()).toEqual(["in-app -: shown", "webhook first: sent", "webhook second: sent"]);
  });

  test("an endpoint that fails repeats no other, is a dead letter, and can be sent to again alone", async () => {
    const [good, bad] = [
      await hooks.endpoint("good", { topics, workspaceId: "acme" }),
      await hooks.endpoint("bad", { topics, workspaceId: "acme" }),
    ];
    // The pause leaves the second try to the next turn, however long this one takes.
    const pause = { "retry-after": "3600" };
    bad.receiver.script.push({ kind: "status", status: 502, headers: pause }, { kind: "status", status: 400 });
    const id = await tell();
    await deliver();
    expect((await ways(id)).toSorted()).toEqual(["webhook bad: uncertain", "webhook good: sent"]);
    expect((await shown(id)).status).toBe("pending");
    await deliver();
    expect((await ways(id)).toSorted()).toEqual(["webhook bad: given_up", "webhook good: sent"]);
    expect((await shown(id)).status).toBe("sent");
    await resend(workflow.db.as("headroom_control").pool, id, { actor: "ann" });
    await deliver();
    expect((await ways(id)).toSorted()).toEqual(["webhook bad: sent", "webhook good: sent"]);
    expect([good.receiver.book.requests.length, bad.receiver.book.requests.length]).toEqual([1, 3]);
  });

  test("without an endpoint that takes it, a notification has no address; once there is one it can be sent", async () => {
    const id = await tell();
    expect(await ways(id)).toEqual(["webhook -: no_address"]);
    const late = await hooks.endpoint("late", { topics, workspaceId: "acme" });
    await resend(workflow.db.as("headroom_control").pool, id, { actor: "ann" });
    await deliver();
    expect(await ways(id)).toEqual(["webhook late: sent"]);
    expect(late.receiver.book.requests).toHaveLength(1);
    await rowsOf(db, "select webhooks.disable_endpoint('late', null, 'acme')");
    expect(await ways(await tell())).toEqual(["webhook -: no_address"]);
  });

  test("quiet hours and choices apply to people: an endpoint gets it immediately, and nothing that was erased", async () => {
    const { receiver } = await hooks.endpoint("night", { topics, workspaceId: "acme" });
    await rowsOf(
      db,
      `insert into notify.people (workspace_id, member_id, quiet_from, quiet_until)
       values ('acme', 'rita', (now() at time zone 'UTC')::time - interval '1 hour', (now() at time zone 'UTC')::time + interval '1 hour')`,
    );
    const id = await tell();
    await rowsOf(db, "select notify.erase_told(array[$1::uuid])", [id]);
    const other = await tell();
    await deliver();
    await rowsOf(db, "delete from notify.people");
    expect(await ways(other)).toEqual(["webhook night: sent"]);
    expect(receiver.book.requests.map(({ body }) => (JSON.parse(body ?? "") as { id: string }).id)).toEqual([other]);
  });

  test("what is held for endpoints is sent by a release, each once, alongside another release", async () => {
    const { receiver } = await hooks.endpoint("held", { topics, workspaceId: "acme" });
    const { receiver: other } = await hooks.endpoint("held-too", { topics, workspaceId: "acme" });
    const ids = [await tell(), await tell()];
    // Like a returned message: nothing leaves it held today, and a release must not fail on it.
    await rowsOf(db, "delete from outbox.pending_unordered");
    await rowsOf(
      db,
      "update notify.parts set state = 'held', delivery_id = null, due_at = now() where notification_id = any ($1)",
      [ids],
    );
    await Promise.all([1, 2].map(() => rowsOf(workflow.db.superuser.pool, "select * from notify.release()")));
    await rowsOf(db, "select * from notify.release()");
    await deliver();
    expect(receiver.book.requests).toHaveLength(2);
    expect(other.book.requests).toHaveLength(2);
  });

  test("another tenant's endpoint gets nothing, even where a row names it", async () => {
    const { id: theirs, receiver } = await hooks.endpoint("spy", { topics, workspaceId: "globex" });
    await hooks.endpoint("own", { topics, workspaceId: "acme" });
    const id = await tell();
    await rowsOf(
      db,
      "update notify.parts set state = 'held', delivery_id = null, endpoint_id = $2, due_at = now() where notification_id = $1",
      [id, theirs],
    );
    await rowsOf(db, "select * from notify.release()");
    await deliver();
    expect(receiver.book.requests).toEqual([]);
    expect(await ways(id)).toEqual(["webhook spy: no_address"]);
  });
});
