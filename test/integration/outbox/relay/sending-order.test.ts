/** Whatever order a claim's rows arrive in, they are sent in the order of their keys. */
import { expect, test } from "vitest";
import { probeRail } from "./rails.ts";
import { createStage } from "./stage.ts";

const stage = await createStage();

test("rows that the database returns in any other order are sent in the order of their numbers", async () => {
  await stage.query(
    "alter function outbox.claim(integer, smallint, integer, integer, bigint, bigint, jsonb) rename to claim_in_order",
  );
  await stage.query(
    `create function outbox.claim(
       p_relay_id integer, p_stream_id smallint, p_max_rows integer, p_max_lanes integer default 100, p_since_ms bigint default null,
       p_max_bytes bigint default null, p_in_flight jsonb default null
     ) returns setof outbox.claimed_row language sql volatile security definer
     as 'select * from outbox.claim_in_order($1, $2, $3, $4, $5, $6, $7) order by seq desc, lane_id'`,
  );
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const keys = ["a", "b", "c"];
  const rows = await stage.enqueueMany(
    keys.flatMap((key) => [1, 2, 3, 4, 5].map((number) => ({ stream, rail: rail.name, key, payload: { number } }))),
  );
  await stage.run({ rails: [rail], streams: [stream], concurrency: 1 });
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  for (const key of keys) {
    expect(rail.sent.filter((message) => message.key === key).map((message) => message.seq)).toEqual([1, 2, 3, 4, 5]);
  }
});
