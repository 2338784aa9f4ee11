/** Statements that a connection keeps prepared: whose rows they show, what they survive, and how many there are. */
import { afterAll, describe, expect, it } from "vitest";
import { anonymous, memberSession, serviceSession, type Session } from "../../../../src/http/auth/session.ts";
import { createGatewayDatabase, type GatewayStatement } from "../../../../src/http/database/gateway-database.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";

const db = await createTestDatabase({ version: 17 });
const owner = db.superuser.pool;
await owner.query(`
  create schema kept;
  create table kept.things (id text primary key, workspace text not null, size integer);
  insert into kept.things values ('1', 'acme', 1), ('2', 'globex', 2), ('3', 'globex', 3);
  alter table kept.things enable row level security;
  create policy members on kept.things for select to authenticated
    using (workspace = (select current_setting('request.jwt.claims')::jsonb #>> '{app_metadata,workspace_id}'));
  create policy machines on kept.things for select to service_role using (true);
  create view public.things with (security_invoker = true) as select id, size from kept.things;
  grant usage on schema kept to anon, authenticated, service_role;
  grant select on kept.things, public.things to anon, authenticated, service_role;
`);
// One connection, so that every caller uses statements that others left on it.
const gateway = createGatewayDatabase({ url: db.as("authenticator").url, maxConnections: 1 });
afterAll(() => gateway.close());

const list: GatewayStatement = {
  text: "select json_agg(t order by t.id)::text as body from (select things.* from public.things) t",
  keep: "read",
};
const bySize = (size: string): GatewayStatement => ({
  text: "select json_agg(t.id)::text as body from (select things.* from public.things where size = $1) t",
  values: [size],
  keep: "read",
});

async function body(session: Session, statement: GatewayStatement): Promise<unknown> {
  const [result] = await gateway.run(session, [statement]);
  const text = result?.rows[0]?.["body"];
  return typeof text === "string" ? JSON.parse(text) : null;
}

async function preparedTexts(): Promise<string[]> {
  const text = "select statement from pg_prepared_statements where name like 'headroom_kept_%' order by prepare_time";
  return (await gateway.ask({ text })).rows.map(({ statement }) => String(statement));
}

const member = (workspaceId: string): Session => memberSession({ memberId: "rita", workspaceId });
const ids = async (session: Session): Promise<unknown> =>
  ((await body(session, list)) as { id: string }[] | null)?.map(({ id }) => id) ?? [];

it("a statement that was prepared for one caller shows every other their own rows", async () => {
  for (let turn = 0; turn < 8; turn += 1) {
    expect(await ids(serviceSession())).toEqual(["1", "2", "3"]);
    expect(await ids(member("acme"))).toEqual(["1"]);
    expect(await ids(member("globex"))).toEqual(["2", "3"]);
    expect(await ids(anonymous)).toEqual([]);
  }
  // One for each role.
  expect(await preparedTexts()).toEqual([list.text, list.text, list.text]);
});

it("a revoked right takes effect immediately", async () => {
  await owner.query("revoke select on kept.things from authenticated");
  await expect(body(member("acme"), list)).rejects.toMatchObject({ sqlState: "42501" });
  await owner.query("grant select on kept.things to authenticated");
  expect(await ids(member("acme"))).toEqual(["1"]);
});

describe("what was prepared before a migration", () => {
  const service = serviceSession();

  it("shows the columns that the view has now", async () => {
    for (let turn = 0; turn < 7; turn += 1) await body(service, list);
    await owner.query("create or replace view public.things as select id, size, workspace from kept.things");
    await owner.query("alter view public.things set (security_invoker = true)");
    expect(await body(service, list)).toContainEqual({ id: "1", size: 1, workspace: "acme" });
  });

  it("compares with the type that the column has now, and is prepared again", async () => {
    for (let turn = 0; turn < 7; turn += 1) expect(await body(service, bySize("2"))).toEqual(["2"]);
    await owner.query(`
      drop view public.things;
      alter table kept.things alter size type text using 'size ' || size;
      create view public.things with (security_invoker = true) as select id, size from kept.things;
      grant select on public.things to anon, authenticated, service_role`);
    for (let turn = 0; turn < 3; turn += 1) expect(await body(service, bySize("size 2"))).toEqual(["2"]);
    expect(await preparedTexts()).toContain(bySize("").text);
  });

  it("may be gone, and is prepared again", async () => {
    for (let turn = 0; turn < 2; turn += 1) await body(service, list);
    const { rows } = await gateway.ask({
      text: "select name from pg_prepared_statements where name like 'headroom_kept_%'",
    });
    for (const { name } of rows) await gateway.ask({ text: `deallocate ${String(name)}` });
    for (let turn = 0; turn < 3; turn += 1) expect(await ids(service)).toEqual(["1", "2", "3"]);
    expect(await preparedTexts()).toEqual([list.text]);
  });
});

it("a caller who always sends new texts leaves others their statements, and the server a bounded number", async () => {
  for (let turn = 0; turn < 3; turn += 1) await body(member("globex"), list);
  for (let size = 0; size < 60; size += 1) {
    const text = `select json_agg(t.id)::text as body from (select id from public.things limit ${size}) t`;
    for (let turn = 0; turn < 2; turn += 1) await body(member("acme"), { text, keep: "read" });
  }
  const texts = await preparedTexts();
  expect(texts.length).toBeLessThanOrEqual(8);
  expect(texts).toContain(list.text);
  expect(await ids(member("globex"))).toEqual(["2", "3"]);
});

it("a value that no column can hold fails, and what was prepared stays", async () => {
  await owner.query("create view public.sizes as select length(id) as size from kept.things");
  await owner.query("grant select on public.sizes to service_role");
  const text = "select count(*)::text as body from public.sizes where size = $1";
  const ask = (size: string): Promise<unknown> => body(serviceSession(), { text, values: [size], keep: "read" });
  for (let turn = 0; turn < 2; turn += 1) expect(await ask("1")).toBe(3);
  const preparedAt = { text: `select prepare_time from pg_prepared_statements where statement = '${text}'` };
  const before = await gateway.ask(preparedAt);
  expect(before.rows).toHaveLength(1);
  await expect(ask("big")).rejects.toMatchObject({ sqlState: "22P02" });
  expect(await ask("1")).toBe(3);
  expect(await gateway.ask(preparedAt)).toEqual(before);
});

const divided = (by: number): GatewayStatement => ({
  text: "select (6 / $1::int)::text as body",
  values: [by],
  keep: "call",
});

it("a failed batch loses no statement and prepares none twice", async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(body(anonymous, divided(0))).rejects.toMatchObject({ sqlState: "22012" });
    expect(await body(anonymous, divided(2))).toBe(3);
    expect(await body(anonymous, divided(3))).toBe(2);
  }
  expect((await preparedTexts()).filter((text) => text === divided(1).text)).toHaveLength(1);
});

it("nothing is kept behind a pooler that gives every transaction another session", async () => {
  const pooler = await startTransactionPooler(db.as("authenticator").url);
  const pooled = createGatewayDatabase({ url: pooler.url, maxConnections: 2, prepare: false });
  try {
    for (let turn = 0; turn < 6; turn += 1) {
      expect((await pooled.run(member("acme"), [list]))[0]?.rows).toHaveLength(1);
      expect((await pooled.ask({ text: "select name from pg_prepared_statements" })).rows).toEqual([]);
    }
  } finally {
    await pooled.close();
    await pooler.stop();
  }
});
