/** The fixture that approvals are measured on, and against, must match what the product really writes. */
import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import { expect, it } from "vitest";
import {
  copyRequest,
  DECIDERS,
  prepareApprovals,
  prepareWorkspace,
  SCRIPTS,
  submitDelivered,
  type Decider,
} from "../../../bench/approvals.ts";
import { parseLoadScript } from "../../../bench/load/script.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../outbox/queries.ts";

/** By table: how many rows are new or changed, and how large they are together. */
type Written = Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;

const approving = await createTestDatabase();
const submitting = await createTestDatabase();

const tablesQuery = `
  select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`;

/** Nobody else writes meanwhile, so every row newer than the previous transaction is this work's. */
async function writtenBy(client: ClientBase, work: () => Promise<unknown>): Promise<Written> {
  const { before } = await oneOf<{ before: string }>(client, "select pg_current_xact_id()::text as before");
  await work();
  const tables = await rowsOf<{ name: string }>(client, tablesQuery);
  const inEach = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*)::integer as rows, coalesce(sum(pg_column_size(t.*)), 0)::integer as bytes
         from ${name} t where t.xmin::text::bigint > $1::bigint`,
  );
  const counted = await rowsOf<{ name: string; rows: number; bytes: number }>(client, inEach.join(" union all "), [
    before,
  ]);
  return Object.fromEntries(counted.flatMap(({ name, rows, bytes }) => (rows === 0 ? [] : [[name, { rows, bytes }]])));
}

const rowsIn = (written: Written): string[] =>
  Object.entries(written)
    .map(([table, { rows }]) => `${table}: ${rows}`)
    .toSorted();

/** Each table's size next to the size of the real thing, in per cent. */
const sizesOf = (written: Written, real: Written): number[] =>
  Object.entries(real).map(([table, { bytes }]) => Math.round(((written[table]?.bytes ?? 0) * 100) / bytes));

async function decideAs(client: ClientBase, who: Decider): Promise<void> {
  const { statements } = parseLoadScript(await readFile(SCRIPTS[who], "utf8"));
  for (const { text } of statements) await client.query(text);
}

it("the request that approvals are measured on has the same rows as a real one whose first message was delivered", async () => {
  const client = await submitting.superuser.connect();
  await prepareWorkspace(client);
  // The known rail, the relay, the way, the channel with its gate and the recipient's turn exist once for all requests; the requester's
  // acts are counted for an hour.
  const once = new Set([
    "capacity.acts",
    "headroom.turns",
    "outbox.destinations",
    "outbox.gates",
    "outbox.rails",
    "outbox.relays",
    "outbox.ways",
  ]);
  let model = "";
  const submitted = await writtenBy(client, async () => {
    model = await submitDelivered(client, submitting.superuserUrl);
  });
  const copied = await writtenBy(client, () => copyRequest(client, model, 1));
  expect(rowsIn(copied)).toEqual(rowsIn(submitted).filter((line) => !once.has(line.split(":")[0] ?? "")));
});

it("the baseline of the measurement writes the same rows as an approval, of the same size, and leaves the same lane behind", async () => {
  const client = await approving.superuser.connect();
  await prepareApprovals(client, approving.superuserUrl, { requests: DECIDERS.length, partitions: 10 });
  const written: Record<string, Written> = {};
  for (const who of DECIDERS) written[who] = await writtenBy(client, () => decideAs(client, who));
  const real = written["headroom"] ?? {};
  expect(Object.keys(real)).toContain("capacity.events");
  for (const who of DECIDERS) {
    expect(rowsIn(written[who] ?? {}), who).toEqual(rowsIn(real));
    for (const size of sizesOf(written[who] ?? {}, real)) {
      expect(size, who).toBeGreaterThan(90);
      expect(size, who).toBeLessThan(110);
    }
  }
  const left = await rowsOf(
    client,
    `select r.version, r.commercial_approved_by, l.next_seq, l.idle_at, h.head_seq, array_agg(p.seq::integer order by p.seq) as waiting
       from capacity.requests r
       join outbox.lanes l on l.key = r.id || ':slack'
       join outbox.heads h on h.lane_id = l.lane_id
       join outbox.pending p on p.lane_id = l.lane_id
      where r.id like 'CR-2000-%' group by r.id, l.lane_id, h.lane_id`,
  );
  expect(left).toHaveLength(DECIDERS.length);
  expect(left[0]).toMatchObject({ version: 2, commercial_approved_by: "bob", waiting: [2, 3] });
  expect(new Set(left.map((row) => JSON.stringify(row))).size).toBe(1);
});
