/** What a delivery captures belongs to the lane that its outcome moves. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { rowsOf, startEngine } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("captures on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  test("are kept only of deliveries, and only under the outcome's own lane", async () => {
    const stream = await engine.stream();
    const { outbox_id: id } = await engine.enqueue(stream);
    const [row] = await rowsOf<{ lane_id: number; seq: number }>(
      engine.superuser,
      "select lane_id, seq from outbox.payloads where outbox_id = $1",
      [id],
    );
    const kept = async (outcome: object): Promise<unknown[]> => {
      await rowsOf(
        engine.superuser,
        "select outbox.store_captures(array[jsonb_populate_record(null::outbox.row_outcome, $1)])",
        [JSON.stringify({ outbox_id: id, ...row, captured: { ts: "1" }, ...outcome })],
      );
      return rowsOf(engine.superuser, "select name, value from outbox.captures where outbox_id = $1", [id]);
    };
    expect(await kept({ lane_id: 0 })).toEqual([]);
    expect(await kept({ seq: 99 })).toEqual([]);
    expect(await kept({ kind: "retry" })).toEqual([]);
    expect(await kept({ kind: "delivered" })).toEqual([{ name: "ts", value: "1" }]);
    await engine.drain(stream);
  });
});
