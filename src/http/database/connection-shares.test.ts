import { expect, it } from "vitest";
import { Shares } from "./connection-shares.ts";

async function take(shares: Shares, who: string, waitMs = 60_000): Promise<() => void> {
  const taken = await shares.take(who, waitMs);
  if (taken.kind === "late") throw new Error(`late, ${taken.ownFault ? "by its own fault" : "because of others"}`);
  return taken.leave;
}

it("keeps a fifth from each, at least one, unless there is one in all", async () => {
  for (const [total, most] of [
    [1, 1],
    [2, 1],
    [4, 3],
    [10, 8],
    [20, 16],
  ] as const) {
    const shares = new Shares(total);
    for (let turn = 0; turn < most; turn += 1) await take(shares, "a");
    await expect(take(shares, "a", 1)).rejects.toThrow(total > 1 ? "own fault" : "others");
    for (let turn = most; turn < total; turn += 1) await take(shares, "b");
    await expect(take(shares, "c", 1)).rejects.toThrow("others");
  }
});

it("gives the next place to whoever has least, and to whom it belongs in the order in which they came", async () => {
  const shares = new Shares(5);
  const leaves = [];
  for (const who of ["a", "a", "a", "b", "b"]) leaves.push(await take(shares, who));
  const order: string[] = [];
  const waiting = ["a", "b", "b", "c"].map(async (who, place) => {
    await take(shares, who);
    order.push(`${who}${place}`);
  });
  for (const leave of leaves.slice(0, 4)) {
    leave();
    await Promise.resolve();
  }
  await Promise.all(waiting);
  expect(order).toEqual(["c3", "a0", "b1", "b2"]);
});

it("gives nothing to somebody who has stopped waiting", async () => {
  const shares = new Shares(1);
  const leave = await take(shares, "a");
  await expect(take(shares, "b", 1)).rejects.toThrow("others");
  leave();
  await take(shares, "c");
});
