/**
 * What an approval costs inside the database, counted as `npm run walk` does. An upper bound: it may become less.
 */
import { expect, test } from "vitest";
import { openStage } from "../../../bench/walk/stage.ts";
import { WALKS } from "../../../bench/walk/walks.ts";

const MOST_STATEMENTS = 9;

test("an approval runs at most nine statements, by a login of SQL, by a service key and by a member", async () => {
  await using stage = await openStage();
  const approvals = WALKS.filter(({ name }) => name.startsWith("approval by "));
  expect(approvals).toHaveLength(3);
  for (const approval of approvals) {
    const { name } = approval;
    await approval.walk(stage, await approval.arrange(stage));
    const request = await approval.arrange(stage);
    const { statements } = await stage.meter.count(() => approval.walk(stage, request));
    const inside = statements.filter(({ kind }) => kind !== "sent" && kind !== "check");
    const texts = inside.flatMap(({ calls, text }) => Array.from({ length: calls }, () => text));
    expect(texts, name).toEqual(texts.slice(0, MOST_STATEMENTS));
    // Proves that statements were counted at all: at least reading and writing the request.
    expect(texts.filter((text) => /\bcapacity\.requests\b/.test(text)).length, name).toBeGreaterThan(1);
  }
});
