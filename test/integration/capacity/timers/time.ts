/**
 * Moves time for tests of timers: makes requests older instead of waiting, and keeps one test's requests out of another's sweep.
 *
 * Does not own: what is asserted.
 */
import type { Sweep } from "../../../../src/capacity/timers.ts";
import type { Surfaces } from "../surfaces.ts";
import { rowsOf } from "../harness.ts";

/** The result of a sweep that found nothing to do. */
export const nothing: Sweep = {
  expired: 0,
  warned: 0,
  unasked: 0,
  reminded: 0,
  late: 0,
  erased: 0,
  above: { billing: 0, provisioning: 0 },
  failed: [],
  more: false,
};

/** Nothing of an earlier test is due any more, so that a sweep reports only this test's requests. */
export async function quiet(surfaces: Surfaces): Promise<void> {
  await rowsOf(
    surfaces.superuser,
    `update capacity.requests set state = case when state = 'UNDER_REVIEW' then 'CANCELLED'::public.capacity_request_state else state end,
            state_since = now(), commercial_endorsed_at = null,
            next_deadline_at = case when state = 'CUSTOMER_CONFIRMATION_REQUIRED' then now() + interval '80 days' end`,
  );
  // Nobody was reminded lately.
  const client = await surfaces.db.superuser.connect();
  await client.query("set session_replication_role = replica");
  await client.query(
    "update capacity.notices set created_at = created_at - interval '1000 hours' where kind = 'reminder'",
  );
  await client.end();
  await rowsOf(surfaces.superuser, "delete from capacity.timer_failures");
  await rowsOf(surfaces.superuser, "delete from capacity.review_looks");
}

export async function deadlineIn(surfaces: Surfaces, id: string, hours: number): Promise<void> {
  await rowsOf(
    surfaces.superuser,
    "update capacity.requests set next_deadline_at = now() + $2 * interval '1 hour' where id = $1",
    [id, hours],
  );
}

/** Makes everything about a request older: its state and its notices. Notices are append-only for ordinary sessions. */
export async function age(surfaces: Surfaces, id: string, hours: number): Promise<void> {
  const client = await surfaces.db.superuser.connect();
  await client.query("set session_replication_role = replica");
  const by = "interval '1 hour' * $2 where";
  await client.query(`update capacity.notices set created_at = created_at - ${by} request_id = $1`, [id, hours]);
  await client.query(
    `update capacity.requests set commercial_endorsed_at = commercial_endorsed_at - interval '1 hour' * $2, state_since = state_since - ${by} id = $1`,
    [id, hours],
  );
  await client.query(`update capacity.review_looks set next_look_at = next_look_at - ${by} request_id = $1`, [
    id,
    hours,
  ]);
  await client.end();
}

/** From here on every write about the request fails. Returns how to repair it. */
export async function spoil(surfaces: Surfaces, id: string): Promise<() => Promise<void>> {
  const tables = ["events", "notices"];
  await rowsOf(
    surfaces.superuser,
    `create or replace function public.spoilt() returns trigger language plpgsql as $$
     begin if new.request_id = tg_argv[0] then raise exception 'this row is spoilt'; end if; return new; end $$`,
  );
  for (const table of tables) {
    await rowsOf(
      surfaces.superuser,
      `create trigger spoilt before insert on capacity.${table} for each row execute function public.spoilt('${id}')`,
    );
  }
  return async () => {
    for (const table of tables) await rowsOf(surfaces.superuser, `drop trigger spoilt on capacity.${table}`);
  };
}

/** A request's notices: kind, step, recipients and side effects. */
export async function noticesOf(
  surfaces: Surfaces,
  id: string,
): Promise<[string, string | null, string | null, string[]][]> {
  const rows = await rowsOf<{ kind: string; step: string | null; member_id: string | null; effects: string[] }>(
    surfaces.superuser,
    "select kind, step, member_id, effects from capacity.notices where request_id = $1 order by id",
    [id],
  );
  return rows.map(({ kind, step, member_id, effects }) => [kind, step, member_id, effects]);
}
