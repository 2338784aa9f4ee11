/**
 * Two transactions publish the same events: each event is published once, nobody is the victim of a deadlock, and differences are refused.
 */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { refusalOf, refusedAs, rowsOf } from "../outbox/queries.ts";
import { createPublishing, envelope } from "./harness.ts";

const insert = "insert into payments.outbox_transfers (payload) values ($1)";

describe.each(POSTGRES_VERSIONS)("the same events at the same time on PostgreSQL %i", async (version) => {
  const events = await createPublishing(version);
  const { db } = events;

  beforeEach(() =>
    events.query("select outbox.skip(array(select outbox_id from outbox.pending), 'tests', 'between tests')"),
  );

  /** How many deliveries wait. */
  const waiting = async (): Promise<number> => {
    const [row] = await events.query<{ n: number }>("select count(*)::int as n from outbox.pending");
    return row?.n ?? 0;
  };

  test("two who publish the same event at the same time publish one", async () => {
    await events.endpoint("hears");
    const [one, two] = await db.twoConnections("headroom_ingest");
    const payload = JSON.stringify(envelope({ id: "race" }));
    await one.query("begin");
    const [first] = await rowsOf<{ id: string }>(one, `${insert} returning id`, [payload]);
    await two.query("begin");
    expect(await rowsOf<{ id: string }>(two, `${insert} returning id`, [payload])).toEqual([first]);
    await one.query("set constraints all immediate");
    const second = two.query("commit");
    await db.waitUntilBlocked(two);
    await one.query("commit");
    await second;
    await Promise.all([one.end(), two.end()]);
    expect(await waiting()).toBe(1);
  });

  test.each(["one statement each", "statement by statement"])(
    "two who publish the same events in opposite order publish each once: %s",
    async (how) => {
      await events.endpoint("hears");
      const [one, two] = await db.twoConnections("headroom_ingest");
      const both = ["a", "b"].map((id) => JSON.stringify(envelope({ id: `${how}-${id}` })));
      const publish = async (client: typeof one, payloads: readonly string[]): Promise<string[]> => {
        const sets = how === "one statement each" ? [payloads] : payloads.map((payload) => [payload]);
        const ids: string[] = [];
        for (const set of sets) {
          const made =
            "insert into payments.outbox_transfers (payload) select p from unnest($1::jsonb[]) p returning id";
          ids.push(...(await rowsOf<{ id: string }>(client, made, [set])).map(({ id }) => id));
        }
        return ids;
      };
      await Promise.all([one.query("begin"), two.query("begin")]);
      const ids = await Promise.all([publish(one, both), publish(two, both.toReversed())]);
      expect(ids[0]).toEqual(ids[1].toReversed());
      await Promise.all([one.query("commit"), two.query("commit")]);
      await Promise.all([one.end(), two.end()]);
      expect((await events.fates("transfers", ids[0])).map(({ deliveries }) => deliveries)).toEqual([1, 1]);
      expect(await waiting()).toBe(2);
    },
  );

  test.each([
    ["other content", { data: { amount: 999 } }, "idempotency_conflict"],
    ["another id of its row", {}, "try_again"],
  ] as const)("the same event with %s, published meanwhile, is refused by the commit", async (_what, change, code) => {
    const [one, two] = await db.twoConnections("headroom_ingest");
    const payload = envelope({ id: `meanwhile-${code}` });
    const withId = "insert into payments.outbox_transfers (id, payload) values ($1, $2)";
    await Promise.all([one.query("begin"), two.query("begin")]);
    await one.query(insert, [JSON.stringify(payload)]);
    await two.query(withId, [code === "try_again" ? randomUUID() : null, JSON.stringify({ ...payload, ...change })]);
    await one.query("commit");
    expect(await refusalOf(two.query("commit"))).toMatchObject(refusedAs(code));
    await Promise.all([one.end(), two.end()]);
  });
});
