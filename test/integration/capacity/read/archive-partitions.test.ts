/**
 * What a decision and a list open does not grow with an installation's age: of the archive, which gets another partition each month, they
 * open nothing, with ten partitions or with a hundred and twenty.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Engine } from "../../outbox/harness.ts";
import { customer, startSurfaces } from "../surfaces.ts";
import { oneOf, rowsOf } from "../harness.ts";

/** Adds past months to the permanent archive, and past weeks to the archive of messages, until each has so many partitions. */
const makePartitions = `
do $$
declare
  v_class outbox.retention_classes;
  v_from timestamptz;
  v_leaf text;
begin
  while (select count(*) from outbox.archive_partitions()) < {count} loop
    for v_class in select * from outbox.retention_classes c where c.class_id in (1, 3) loop
      select min(p.from_at) - make_interval(days => v_class.partition_days) into v_from
        from outbox.archive_partitions() p where p.class_id = v_class.class_id;
      v_leaf := format('attempts_%s_%s', v_class.name, to_char(v_from at time zone 'utc', 'YYYYMMDD'));
      execute format('create table outbox.%I (like outbox.attempts including defaults including constraints)', v_leaf);
      perform outbox.protect_archive_table(format('outbox.%I', v_leaf)::regclass);
      execute format('alter table outbox.%I attach partition outbox.%I for values from (%L) to (%L)', 'attempts_' || v_class.name, v_leaf,
                     outbox.partition_floor(v_from), outbox.partition_floor(v_from + make_interval(days => v_class.partition_days)));
    end loop;
  end loop;
end
$$`;

/** Tables and views, not indexes: which indexes are used depends on the server's current statistics. */
const locked = `
  select distinct l.relation::regclass::text as relation, l.relation in (select t.relid from pg_partition_tree('outbox.attempts') t) as archived
    from pg_locks l join pg_class c on c.oid = l.relation
   where l.pid = pg_backend_pid() and c.relnamespace <> 'pg_catalog'::regnamespace and c.relkind in ('r', 'p', 'v')
   order by 1`;

/** The relations that a statement locks, which are those that it opens. */
interface Opened {
  readonly relations: readonly string[];
  readonly ofArchive: readonly string[];
}

const decide = (event: string, actor: string, payload = "{}"): string =>
  `select * from public.apply_capacity_event($1, '${event}', 'user', '${actor}', '${payload}')`;
const reason = '{"reason": "no"}';

/** Of a request that waits for its second approval, or for its customer; or of all requests. */
const asked: readonly (readonly [string, "reviewed" | "offered" | null, string])[] = [
  ["an approval", "reviewed", decide("TECH_REVIEW_APPROVED", "tess")],
  ["a rejection", "reviewed", decide("TECH_REVIEW_REJECTED", "tess", reason)],
  ["the customer's confirmation", "offered", decide("CUSTOMER_CONFIRMED", "cora")],
  ["a cancellation", "offered", decide("CANCEL_APPROVED", "rita", reason)],
  ["one request of the view", "offered", "select * from public.capacity_requests where id = $1"],
  ["fifty requests of the view", null, "select * from public.capacity_requests order by created_at desc limit 50"],
  ["a list of fifty", null, "select * from capacity.list_requests('acme', p_limit => 50)"],
];

describe.each(POSTGRES_VERSIONS)("on PostgreSQL %i, with an archive of any age,", async (version) => {
  const surfaces = await startSurfaces(version);
  const engine = new Engine(surfaces.db);
  const ids = { reviewed: "", offered: "" };

  /** Delivers everything that waits to be sent. */
  async function deliver(): Promise<void> {
    await surfaces.release();
    await rowsOf(surfaces.superuser, "update outbox.limits set min_interval_ms = 0");
    for (const name of ["capacity", "people"]) {
      const { id } = await oneOf<{ id: number }>(surfaces.superuser, "select outbox.stream_id($1) as id", [name]);
      await engine.drain({ id, name });
    }
  }

  beforeAll(async () => {
    await engine.start();
    await surfaces.settings({ public_url: "https://capacity.acme.example", slack_channel_id: "C0CAPACITY" });
    for (let n = 0; n < 50; n += 1) await surfaces.create({ customer });
    ids.reviewed = await surfaces.createIn("UNDER_REVIEW", { customer });
    await surfaces.apply(ids.reviewed, "COMMERCIAL_APPROVED", "cora");
    ids.offered = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await deliver();
  });

  /** What each statement opens on its own connection: when it is first planned, and when its plans are cached. */
  async function openedBy(query: string, values: readonly unknown[]): Promise<Opened[]> {
    const client = await surfaces.db.superuser.connect();
    const opened: Opened[] = [];
    for (let round = 0; round < 7; round += 1) {
      await client.query("begin");
      await client.query(query, [...values]);
      const rows = await rowsOf<{ relation: string; archived: boolean }>(client, locked);
      await client.query("rollback");
      if (round !== 0 && round !== 6) continue;
      const names = (some: typeof rows): string[] => some.map((row) => row.relation);
      opened.push({ relations: names(rows), ofArchive: names(rows.filter((row) => row.archived)) });
    }
    await client.end();
    return opened;
  }
  const withPartitions = async (count: number, query: string, values: readonly unknown[]): Promise<Opened[]> => {
    await rowsOf(surfaces.superuser, makePartitions.replace("{count}", String(count)));
    return openedBy(query, values);
  };

  test("decisions and lists open nothing of it, and the same other relations with 10 partitions as with 120", async () => {
    const told = "select last_notified_at is not null as told from public.capacity_requests where id = any ($1)";
    expect(await rowsOf(surfaces.superuser, told, [Object.values(ids)])).toEqual([{ told: true }, { told: true }]);
    const few = new Map<string, Opened[]>();
    for (const [name, of, query] of asked) few.set(name, await withPartitions(10, query, of === null ? [] : [ids[of]]));
    for (const [name, of, query] of asked) {
      const many = await withPartitions(120, query, of === null ? [] : [ids[of]]);
      expect(many, name).toEqual(few.get(name));
      expect(
        many.map(({ ofArchive }) => ofArchive),
        name,
      ).toEqual([[], []]);
    }
  });

  test("a request with all its messages opens the partitions that these are in, once for all of them, and no others", async () => {
    const { id: stream } = await oneOf<{ id: number }>(surfaces.superuser, "select outbox.stream_id('capacity') as id");
    await surfaces.apply(ids.reviewed, "TECH_REVIEW_APPROVED", "tess");
    expect(await engine.claim({ id: stream, name: "capacity" })).not.toEqual([]);
    const query = "select public.get_capacity_request($1)";
    const inArchive = await rowsOf<{ name: string }>(
      surfaces.superuser,
      `select distinct p.relid::text as name from outbox.attempts a, pg_partition_ancestors(a.tableoid) p
        where a.outbox_id in (select d.outbox_id from outbox.rows d where d.stream = 'capacity' and d.instruction_id like $1 || '%') order by 1`,
      [ids.reviewed],
    );
    expect(inArchive).toHaveLength(3);
    for (const { ofArchive } of await withPartitions(120, query, [ids.reviewed])) {
      expect(ofArchive).toEqual(inArchive.map(({ name }) => name));
    }
    const client = await surfaces.db.superuser.connect();
    await client.query("begin");
    await client.query("set local track_functions = 'all'");
    const { placed } = await oneOf<{ placed: number }>(
      client,
      "select jsonb_array_length(public.get_capacity_request($1) -> 'deliveries') as placed",
      [ids.reviewed],
    );
    const calls = await rowsOf(
      client,
      "select funcname as name, calls::integer from pg_stat_xact_user_functions where funcname in ('places_of', 'last_lines') order by 1",
    );
    await client.query("rollback");
    await client.end();
    expect(placed).toBeGreaterThan(2);
    expect(calls).toEqual([
      { name: "last_lines", calls: 1 },
      { name: "places_of", calls: 1 },
    ]);
  });
});
