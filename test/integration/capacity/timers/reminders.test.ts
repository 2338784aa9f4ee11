/**
 * Review reminders: late reviews are reported as late, and the people who are asked are reminded, not too often and in one message each.
 */
import { describe, expect, test } from "vitest";
import { runTimers, type Sweep } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { startSurfaces, type Surfaces } from "../surfaces.ts";
import { age, nothing, noticesOf, quiet, spoil } from "./time.ts";
import { oneOf, rowsOf } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("review reminders on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const sweep = (): Promise<Sweep> => runTimers(surfaces.db.as("headroom_executor").pool);

  test("late reviews are reported as late, once per step, and the people who are asked are reminded", async () => {
    await quiet(surfaces);
    const { id } = await surfaces.create();
    await age(surfaces, id, 23);
    expect(await sweep()).toEqual(nothing);
    await age(surfaces, id, 2);
    expect(await sweep()).toEqual({ ...nothing, late: 2, reminded: 4 });
    expect(await sweep()).toEqual(nothing);
    expect(await noticesOf(surfaces, id)).toEqual([
      ["late", "commercial", null, ["slack:reply"]],
      ["late", "technical", null, ["slack:reply"]],
      ["reminder", "commercial", "cora", ["tell:reminded"]],
      ["reminder", "technical", "rob", ["tell:reminded"]],
      ["reminder", "technical", "tess", ["tell:reminded"]],
      ["reminder", "technical", "tim", ["tell:reminded"]],
    ]);
    const late = (await surfaces.effects(id)).find(({ instruction }) => instruction.includes("!"));
    expect(late?.payload["text"]).toMatch(
      /The (commercial|technical) review is late: it should take 24 hours, and has been open since /,
    );
  });

  test("reminders come at their interval, up to their maximum number, and stop with the decision", async () => {
    await quiet(surfaces);
    await surfaces.settings({ most_reminders: 2, remind_every_hours: 10 });
    const { id } = await surfaces.create();
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await age(surfaces, id, 25);
    expect(await sweep()).toEqual({ ...nothing, late: 1, reminded: 1 });
    await age(surfaces, id, 9);
    expect(await sweep()).toEqual(nothing);
    await age(surfaces, id, 2);
    expect(await sweep()).toEqual({ ...nothing, reminded: 1 });
    await age(surfaces, id, 100);
    expect(await sweep()).toEqual(nothing);
    expect((await noticesOf(surfaces, id)).map(([kind]) => kind)).toEqual(["late", "reminder", "reminder"]);
    await surfaces.settings({ most_reminders: 5 });
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await age(surfaces, id, 100);
    expect(await sweep()).toEqual(nothing);
  });

  test("a workspace that wants no reminders gets none, but late reviews are still reported", async () => {
    await quiet(surfaces);
    await surfaces.settings({ most_reminders: 0 });
    const { id } = await surfaces.create();
    await age(surfaces, id, 25);
    expect(await sweep()).toEqual({ ...nothing, late: 2 });
  });

  test("one person with many late reviews gets one message about all of them", async () => {
    await quiet(surfaces);
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const { id } = await surfaces.create({ requester: "rob", quantity: index + 1 });
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await age(surfaces, id, 30 - index);
      ids.push(id);
    }
    expect(await sweep()).toEqual({ ...nothing, late: 4, reminded: 4 });
    await surfaces.release();
    const messages = await rowsOf<{
      instruction: string;
      destination: string;
      channel: string;
      list: string;
    }>(
      surfaces.superuser,
      `select split_part(n.idempotency_key, '/', 1) as instruction, d.name as destination, m.payload ->> 'channel' as channel,
              m.payload #>> '{blocks,0,text,text}' as list
         from notify.notifications n join notify.parts p on p.notification_id = n.id join notify.deliveries v on v.id = p.delivery_id
         join outbox.payloads m on m.outbox_id = v.outbox_id join outbox.destinations d on d.destination_id = m.destination_id
        where n.cause = 'reminder' and n.about = any ($1)`,
      [ids],
    );
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({
      destination: "slack:U0CORA",
      channel: "U0CORA",
    });
    expect(messages[0]?.list.split("\n• ").map((line) => line.slice(0, line.indexOf(":")))).toEqual([
      "*Reviews are waiting for you*\nYour decision is needed",
      ...ids,
    ]);
    expect(messages[0]?.instruction.startsWith(`${ids[0]}!`)).toBe(true);
  });

  test("a person who was reminded is left alone until the interval has passed, and then gets everything in one message", async () => {
    await quiet(surfaces);
    await surfaces.settings({ remind_every_hours: 10 });
    const late = async (hours: number): Promise<string> => {
      const { id } = await surfaces.create({ requester: "rob" });
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await age(surfaces, id, hours);
      return id;
    };
    const first = await late(25);
    expect(await sweep()).toEqual({ ...nothing, late: 1, reminded: 1 });

    // Two more fall due within the interval, one after the other, and a third is not late yet.
    const second = await late(25);
    expect(await sweep()).toEqual({ ...nothing, late: 1 });
    const third = await late(30);
    expect(await sweep()).toEqual({ ...nothing, late: 1 });
    const young = await late(1);
    expect((await digests(surfaces, [first, second, third, young])).length).toBe(1);

    for (const id of [first, second, third]) await age(surfaces, id, 11);
    expect(await sweep()).toEqual({ ...nothing, reminded: 3 });
    expect(await sweep()).toEqual(nothing);
    const messages = await digests(surfaces, [first, second, third, young]);
    expect(messages).toHaveLength(2);
    const lines = messages.at(-1)!.split("\n• ");
    expect(lines.map((line) => line.slice(0, line.indexOf(":")))).toEqual(
      expect.arrayContaining([first, second, third]),
    );
    expect(lines.at(-1)).toBe("and 1 more");
  });

  test("a review whose check is not due yet is in the message too, when another one falls due", async () => {
    await quiet(surfaces);
    const ids: string[] = [];
    for (let index = 0; index < 2; index += 1) {
      const { id } = await surfaces.create({ requester: "rob" });
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await age(surfaces, id, 26 + index);
      ids.push(id);
    }
    await rowsOf(surfaces.superuser, "insert into capacity.review_looks values ($1, now() + interval '30 minutes')", [
      ids[0],
    ]);
    expect(await sweep()).toEqual({ ...nothing, late: 1, reminded: 2 });
  });

  test("a member of the same id in another workspace is a different person", async () => {
    await quiet(surfaces);
    const { id } = await surfaces.create({ requester: "rob" });
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await age(surfaces, id, 25);
    await rowsOf(
      surfaces.superuser,
      `insert into directory.members (workspace_id, id, display_name, roles) values ('globex', 'cora', 'Another Cora', '{commercial}') on conflict do nothing`,
    );
    const other = await surfaces.create({ workspace: "globex", requester: "rita", owner: "cora", group: "infra" });
    await surfaces.apply(other.id, "TECH_REVIEW_APPROVED", "glen");
    await age(surfaces, other.id, 25);
    expect(await sweep()).toEqual({ ...nothing, late: 2, reminded: 2 });
  });

  test("by mail where Slack does not know the person, and in the inbox only where nothing else reaches them", async () => {
    await quiet(surfaces);
    await rowsOf(surfaces.superuser, "update directory.members set slack_user_id = null where id in ('tess', 'tim')");
    await rowsOf(surfaces.superuser, "update directory.members set email = 'tess@acme.example' where id = 'tess'");
    const { id } = await surfaces.create({ requester: "rob" });
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await surfaces.release();
    await age(surfaces, id, 25);
    expect(await sweep()).toEqual({ ...nothing, late: 1, reminded: 2 });
    await surfaces.release();
    await rowsOf(
      surfaces.superuser,
      "update directory.members set slack_user_id = 'U0' || upper(id), email = null where id in ('tess', 'tim')",
    );
    expect((await noticesOf(surfaces, id)).slice(1)).toEqual([
      ["reminder", "technical", "tess", ["tell:reminded"]],
      ["reminder", "technical", "tim", ["tell:reminded"]],
    ]);
    const reminders = (await surfaces.toldOf(id)).filter(({ audience }) => audience === "reminded");
    expect(reminders.map(({ to, channel, stage }) => [to, channel, stage])).toEqual([
      ["tess", "email", "waiting"],
      ["tess", "in-app", "shown"],
      ["tim", "email", "no_address"],
      ["tim", "in-app", "shown"],
    ]);
    const mail = (await surfaces.effects(id)).find(({ to, effect }) => to === "tess" && effect === "tell:reminded");
    expect(mail).toMatchObject({
      rail: "email",
      payload: { to: "tess@acme.example", subject: "A review is waiting for you" },
    });
  });

  test("after an endorsement the higher authority's clock starts again, and the authority is reminded", async () => {
    await quiet(surfaces);
    await rowsOf(
      surfaces.superuser,
      `insert into capacity.policies (workspace_id, id, kind, step, min_monthly_cost_usd, approver_role)
       values ('acme', 'large', 'escalation', 'commercial', 100000, 'vp')`,
    );
    const { id } = await surfaces.create({ cost: 200_000 });
    await rowsOf(surfaces.superuser, "delete from capacity.policies where workspace_id = 'acme'");
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await age(surfaces, id, 25);
    expect(await sweep()).toEqual({ ...nothing, late: 1, reminded: 1 });
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await age(surfaces, id, 23);
    expect(await sweep()).toEqual(nothing);
    await age(surfaces, id, 2);
    expect(await sweep()).toEqual({ ...nothing, reminded: 1 });
    expect((await noticesOf(surfaces, id)).map(([kind, , member]) => [kind, member])).toEqual([
      ["late", null],
      ["reminder", "cora"],
      ["reminder", "vera"],
    ]);
  });

  test("a review that fails is reported, and its reviewer is still reminded of the others", async () => {
    await quiet(surfaces);
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { id } = await surfaces.create({ requester: "rob" });
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await age(surfaces, id, 30);
      ids.push(id);
    }
    const bad = ids[1] ?? "";
    // Already reported as late, so that only the reminder can fail.
    await rowsOf(
      surfaces.superuser,
      `insert into capacity.notices (request_id, id, kind, step, actor_type, actor_id, via) values ($1, 1, 'late', 'commercial', 'cron', 'x', 'cron')`,
      [bad],
    );
    const repair = await spoil(surfaces, bad);
    const done = await sweep();
    await repair();
    expect(done).toMatchObject({ late: 2, reminded: 2 });
    expect(done.failed).toMatchObject([{ request_id: bad, timer: "reminder", message: "this row is spoilt" }]);
    for (const id of ids)
      expect((await noticesOf(surfaces, id)).filter(([kind]) => kind === "reminder")).toHaveLength(id === bad ? 0 : 1);
  });

  test("a review that cannot even be marked late is reported, and the others are reminded of", async () => {
    await quiet(surfaces);
    const [bad, good] = [await surfaces.create(), await surfaces.create()];
    for (const { id } of [bad, good]) await age(surfaces, id, 30);
    const repair = await spoil(surfaces, bad.id);
    const done = await sweep();
    await repair();
    expect(done.failed).toMatchObject([{ request_id: bad.id, timer: "review" }]);
    expect(done).toMatchObject({ late: 2, reminded: 4 });
  });

  test("two sweeps at the same time remind nobody twice: the second leaves the workspace to the first", async () => {
    await quiet(surfaces);
    const { id } = await surfaces.create();
    await age(surfaces, id, 25);
    const [one, other] = await surfaces.db.twoConnections("headroom_executor");
    await one.query("begin");
    const first = await oneOf<{ done: Sweep }>(one, "select public.run_capacity_request_timers() as done");
    const second = await oneOf<{ done: Sweep }>(other, "select public.run_capacity_request_timers() as done");
    await one.query("commit");
    expect([first.done, second.done]).toEqual([{ ...nothing, late: 2, reminded: 4 }, nothing]);
    expect(await Promise.all([sweep(), sweep()])).toEqual([nothing, nothing]);
  });

  test("the sweep ignores a request that is decided", async () => {
    await quiet(surfaces);
    const { id } = await surfaces.create();
    await age(surfaces, id, 25);
    await sweep();
    await surfaces.apply(id, "CANCEL_APPROVED", "rita");
    await age(surfaces, id, 48);
    await sweep();
    expect(await rowsOf(surfaces.superuser, "select * from capacity.review_looks where request_id = $1", [id])).toEqual(
      [],
    );
  });

  test("every reminder that was sent belongs to a notice", async () => {
    expect(await surfaces.unmatched()).toEqual([]);
  });
});

/** The lists in the direct messages that belong to these requests, oldest first. */
async function digests(surfaces: Surfaces, ids: readonly string[]): Promise<string[]> {
  await surfaces.release();
  const rows = await rowsOf<{ list: string }>(
    surfaces.superuser,
    `select m.payload #>> '{blocks,0,text,text}' as list
       from notify.notifications n join notify.parts p on p.notification_id = n.id join notify.deliveries v on v.id = p.delivery_id
       join outbox.payloads m on m.outbox_id = v.outbox_id
      where n.cause = 'reminder' and n.about = any ($1) order by n.created_at`,
    [ids],
  );
  return rows.map(({ list }) => list);
}
