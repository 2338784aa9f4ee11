import { expect, it } from "vitest";
import { Shares } from "./connection-shares.ts";

/** `a` is a single caller, `a/x` is a member of group a. */
async function take(shares: Shares, who: string, waitMs = 60_000): Promise<() => void> {
  const [group = "", one] = who.split("/");
  const taken = await shares.take({ group, one }, waitMs);
  if (taken.kind === "late") throw new Error(`late, ${taken.ownFault ? "by its own fault" : "because of others"}`);
  return taken.leave;
}

it("keeps a fifth from each group, at least one connection, unless there is only one", async () => {
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

it("gives the next place to the group that holds the fewest, and within it in order of arrival", async () => {
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

it("gives nothing to a caller that has stopped waiting", async () => {
  const shares = new Shares(1);
  const leave = await take(shares, "a");
  await expect(take(shares, "b", 1)).rejects.toThrow("others");
  leave();
  await take(shares, "c");
});

it("leaves half of a group's places to its other callers, and gives the next one to the caller that holds the fewest", async () => {
  for (const [total, most] of [
    [1, 1],
    [2, 1],
    [4, 2],
    [10, 4],
    [20, 8],
  ] as const) {
    const shares = new Shares(total);
    for (let turn = 0; turn < most; turn += 1) await take(shares, "a/x");
    await expect(take(shares, "a/x", 1)).rejects.toThrow(total > 1 ? "own fault" : "others");
    if (total > 2) await take(shares, "a/y");
  }
  const shares = new Shares(5);
  const leaves = [];
  for (const who of ["a/x", "a/x", "a/y", "a/z"]) leaves.push(await take(shares, who));
  const order: string[] = [];
  const waiting = ["a/x", "a/y", "a/w"].map(async (who) => {
    await take(shares, who);
    order.push(who);
  });
  for (const leave of leaves.slice(0, 3)) {
    leave();
    await Promise.resolve();
  }
  await Promise.all(waiting);
  expect(order).toEqual(["a/w", "a/x", "a/y"]);
});

it("limits how many requests of one caller wait, and lets those of others wait", async () => {
  const shares = new Shares(1);
  const leave = await take(shares, "b");
  const waiting = Array.from({ length: 64 }, async () => (await take(shares, "a/x"))());
  await expect(take(shares, "a/x")).rejects.toThrow("own fault");
  const other = take(shares, "a/y").then((leaveToo) => leaveToo());
  leave();
  await Promise.all([...waiting, other]);
});
