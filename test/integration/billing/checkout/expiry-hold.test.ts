/** Expired offers that are kept open because a layer above waits for something. */
import { beforeAll, describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { deadlineIn, quiet } from "../../capacity/timers/time.ts";
import { customer, startSurfaces } from "../../capacity/surfaces.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";

/** A layer that holds the offers listed in a table of the test's own. */
const holder = `
create table public.held (request_id text primary key, seconds double precision);
create function public.hold(p_argument jsonb) returns jsonb language plpgsql as $$
declare
  v_seconds double precision := (select h.seconds from public.held h where h.request_id = p_argument ->> 'request_id');
begin
  if v_seconds = 'NaN' then
    raise exception 'nobody knows';
  end if;
  return jsonb_build_object('another', jsonb_build_object('hold_until', extract(epoch from now()) + v_seconds));
end $$;
grant select on public.held to public;
insert into headroom.hooks (point, layer, function_name) values ('capacity.expiry_due', 'another', 'public.hold');`;

describe.each(POSTGRES_VERSIONS)("an offer that is held on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const sweep = () => runTimers(surfaces.db.as("headroom_executor").pool);
  beforeAll(() => surfaces.db.superuser.pool.query(holder));

  const overdue = async (): Promise<string> => {
    await quiet(surfaces);
    await rowsOf(surfaces.superuser, "delete from capacity.expiry_holds");
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await deadlineIn(surfaces, id, -1);
    return id;
  };
  const hold = (id: string, seconds: number | string | null) =>
    rowsOf(
      surfaces.superuser,
      "insert into public.held values ($1, $2) on conflict (request_id) do update set seconds = excluded.seconds",
      [id, seconds],
    );
  const holds = () =>
    rowsOf<{ request_id: string; seconds: number }>(
      surfaces.superuser,
      "select request_id, round(extract(epoch from look_again_at - now()))::integer as seconds from capacity.expiry_holds",
    );
  const lookNow = () => rowsOf(surfaces.superuser, "update capacity.expiry_holds set look_again_at = now()");

  test("stays open, is checked again within five minutes, and ends when nothing holds it any more", async () => {
    const id = await overdue();
    await hold(id, 86_400);
    expect(await sweep()).toMatchObject({ expired: 0, failed: [], more: false });
    expect((await surfaces.row(id)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    const [held] = await holds();
    expect(held).toMatchObject({ request_id: id });
    expect(held?.seconds).toBeGreaterThan(200);
    expect(held?.seconds).toBeLessThanOrEqual(300);

    await hold(id, null);
    expect(await sweep()).toMatchObject({ expired: 0 });
    await lookNow();
    expect(await sweep()).toMatchObject({ expired: 1 });
    expect((await surfaces.row(id)).state).toBe("EXPIRED");
    expect(await holds()).toEqual([]);
  });

  test("ends when the named time has passed, however often it is checked", async () => {
    const id = await overdue();
    await hold(id, 60);
    await sweep();
    const [held] = await holds();
    expect(held?.seconds).toBeLessThanOrEqual(60);
    await hold(id, -1);
    await lookNow();
    expect(await sweep()).toMatchObject({ expired: 1 });
  });

  test("does not hold up others; one whose check fails is reported and kept open", async () => {
    const held = await overdue();
    const unknown = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    const free = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    for (const id of [unknown, free]) await deadlineIn(surfaces, id, -0.5);
    await hold(held, 86_400);
    await hold(unknown, "NaN");
    const swept = await sweep();
    expect(swept).toMatchObject({ expired: 1, failed: [{ request_id: unknown, timer: "expiry" }] });
    expect((await surfaces.row(free)).state).toBe("EXPIRED");
    for (const id of [held, unknown]) expect((await surfaces.row(id)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
  });

  test("is released when a payment confirms it, and when somebody cancels it", async () => {
    for (const [event, actor] of [
      ["CUSTOMER_CONFIRMED", "system:payment:1"],
      ["CANCEL_APPROVED", "rita"],
    ] as const) {
      const id = await overdue();
      await hold(id, 86_400);
      await sweep();
      expect(await holds()).toHaveLength(1);
      await surfaces.apply(id, event, actor);
      expect(await holds()).toEqual([]);
    }
  });

  test("layers above are notified once of a request's end, with its previous state", async () => {
    await rowsOf(
      surfaces.superuser,
      `create table public.closed (argument jsonb);
       create function public.note_closed(p_argument jsonb) returns jsonb language sql as 'insert into public.closed values ($1); select null::jsonb';
       grant insert on public.closed to public;
       insert into headroom.hooks (point, layer, function_name) values ('capacity.closed', 'another', 'public.note_closed')`,
    );
    const id = await surfaces.createIn("PROVISIONING");
    await surfaces.apply(id, "PROVISIONING_FAILED", "otto");
    await surfaces.apply(id, "PROVISIONING_FAILED", "otto");
    const rejected = await surfaces.createIn("UNDER_REVIEW");
    await surfaces.apply(rejected, "COMMERCIAL_REJECTED", "cora");
    const { told } = await oneOf<{ told: object[] }>(
      surfaces.superuser,
      "select jsonb_agg(argument) as told from public.closed where argument ->> 'request_id' in ($1, $2)",
      [id, rejected],
    );
    expect(told).toMatchObject([
      { request_id: id, event: "PROVISIONING_FAILED", state_before: "PROVISIONING", state_after: "FAILED" },
      {
        request_id: rejected,
        event: "COMMERCIAL_REJECTED",
        state_before: "UNDER_REVIEW",
        state_after: "REJECTED",
        actor: { type: "user", id: "cora" },
      },
    ]);
  });
});
