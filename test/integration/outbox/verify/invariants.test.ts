/** The check of the invariants itself: it sees what is broken, and stays fast when much is in flight. */
import { describe, expect, test } from "vitest";
import { findViolations, invariants } from "../../../helpers/invariants.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { Engine, rowsOf } from "../harness.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly Plans?: readonly PlanNode[];
}

function nodeTypes(node: PlanNode): string[] {
  return [node["Node Type"], ...(node.Plans ?? []).flatMap(nodeTypes)];
}

describe("a row is in exactly one place", async () => {
  const engine = new Engine(await createTestDatabase());
  const name = "I6 a row is in exactly one place";

  /** What the check reports after a manipulation. */
  async function violationsAfter(statement: string, values: readonly unknown[]): Promise<string[]> {
    const client = await engine.db.superuser.connect();
    await client.query(statement, [...values]);
    const found = (await findViolations(client)).filter((violation) => violation.invariant === name);
    await client.end();
    return found.map((violation) => `${violation.subject} ${violation.detail}`);
  }

  test("sees a row that is nowhere, and one that is in two places", async () => {
    await engine.start();
    const stream = await engine.stream({ ordered: false });
    const lost = await engine.enqueue(stream, { key: null });
    await engine.claim(stream);
    const twice = await engine.enqueue(stream, { key: null });
    const stray = await engine.enqueue(stream, { key: null });
    await engine.settle(stream, [{ row: (await engine.claim(stream))[0]!, outcome: "rejected" }]);
    expect(await violationsAfter("select 1", [])).toEqual([]);
    const isLost = await violationsAfter("delete from outbox.claims where $1::uuid = any (outbox_ids)", [
      lost.outbox_id,
    ]);
    expect(isLost).toEqual([`${lost.outbox_id} is in 0 places: pending 0, claimed 0, dead 0, finished 0`]);
    const dead = await rowsOf<{ id: string }>(engine.superuser, "select outbox_id as id from outbox.dead");
    expect([twice.outbox_id, stray.outbox_id]).toContain(dead[0]!.id);
    const isTwice = await violationsAfter(
      "insert into outbox.pending_unordered (outbox_id, stream_id, priority, due, lines, payload_hash) values ($1, $2, 5, now(), 2, '')",
      [dead[0]!.id, stream.id],
    );
    expect(isTwice).toContain(`${dead[0]!.id} is in 2 places: pending 1, claimed 0, dead 1, finished 0`);
  });

  test("runs without a nested loop, however many rows the planner expects to be in flight", async () => {
    const query = invariants.find((invariant) => invariant.name === name)!.query;
    const [answer] = await rowsOf<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
      engine.superuser,
      `explain (format json) ${query}`,
    );
    // Only a claim's own arrays are unnested row by row.
    const loops = nodeTypes(answer!["QUERY PLAN"][0]!.Plan).filter((type) => /Loop|Join/.test(type));
    expect(loops).toEqual(["Nested Loop"]);
  });
});
