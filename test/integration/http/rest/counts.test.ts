/**
 * Counts in the REST API: whichever kind is requested, only rows that the caller sees are counted. The planner's estimate for a table
 * includes everybody's rows, in all workspaces, so nobody gets it.
 */
import { createClient } from "@supabase/supabase-js";
import { beforeAll, describe, expect, test } from "vitest";
import { startWorkflow } from "../../capacity/harness.ts";
import { memberToken, startTestGateway } from "../harness.ts";

const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db);
const kinds = ["exact", "planned", "estimated"] as const;
const cap = 100_000;

beforeAll(async () => {
  await workflow.create();
  await workflow.superuser.query(`
    insert into capacity.requests (id, workspace_id, created_at, updated_at, state_since, requester_user_id, requested_size, quantity, region)
    select 'CR-2026-9' || lpad(n::text, 5, '0'), 'globex', now(), now(), now(), 'rita', '32XL', 1, 'us-east-1' from generate_series(1, 3000) n;
    analyze capacity.requests;
    create view public.many as select n from generate_series(1, ${cap} + 50) n;
    create view public.just_as_many as select n from generate_series(1, ${cap}) n;
    create function public.count_up(p_to integer) returns table (n integer) language sql stable as 'select generate_series(1, p_to)';
    grant select on public.many, public.just_as_many to authenticated;
    grant execute on function public.count_up to authenticated`);
});

async function ask(path: string, headers: Record<string, string>, method = "GET") {
  const answer = await fetch(`${gateway.url}/rest/v1/${path}`, {
    method,
    headers: { apikey: gateway.keys.anonKey, authorization: `Bearer ${await memberToken("rita")}`, ...headers },
  });
  return {
    status: answer.status,
    range: answer.headers.get("content-range"),
    applied: answer.headers.get("preference-applied"),
    text: await answer.text(),
  };
}

describe.each(kinds)("count=%s", (kind) => {
  const prefer = `count=${kind}`;

  test("counts the rows that the caller may read, and nobody else's", async () => {
    const answer = await ask("capacity_requests?select=state", { prefer });
    expect(answer).toMatchObject({ status: 200, range: "0-0/1", applied: prefer });
    expect(await ask("capacity_requests?select=state&quantity=eq.99", { prefer })).toMatchObject({ range: "*/0" });
    expect(await ask("capacity_requests", { prefer }, "HEAD")).toMatchObject({ status: 200, range: "0-0/1" });
    const client = createClient(gateway.url, gateway.keys.anonKey, { accessToken: () => memberToken("rita") });
    const { count } = await client.from("capacity_requests").select("*", { count: kind, head: true });
    expect(count).toBe(1);
  });

  test("stops at the maximum count, and says that it did", async () => {
    expect(await ask("just_as_many?limit=2", { prefer })).toMatchObject({
      status: 206,
      range: `0-1/${cap}`,
      applied: prefer,
    });
    const stopped = { status: 206, applied: "count=estimated" };
    expect(await ask("many?limit=2", { prefer })).toMatchObject({ ...stopped, range: `0-1/${cap}` });
    expect(await ask("rpc/count_up?p_to=100050&limit=2", { prefer })).toMatchObject({
      ...stopped,
      range: `0-1/${cap}`,
    });
    // A page beyond it is returned like any other, and the total is never less than the rows shown.
    expect(await ask(`many?offset=${cap + 20}&limit=2`, { prefer })).toMatchObject({
      ...stopped,
      range: `${cap + 20}-${cap + 21}/${cap + 22}`,
      text: `[{"n":${cap + 21}}, \n {"n":${cap + 22}}]`,
    });
    expect(await ask(`many?offset=${cap + 60}&limit=2`, { prefer })).toMatchObject({ range: `*/${cap}`, text: "[]" });
    expect(await ask(`just_as_many?offset=${cap}&limit=2`, { prefer })).toMatchObject({ status: 416 });
  });
});

test("no answer reveals the planner's estimate", async () => {
  const accept = "application/vnd.pgrst.plan+json";
  expect(await ask("capacity_requests", { accept })).toMatchObject({ status: 406 });
});
