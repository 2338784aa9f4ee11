/** A Stripe key that may not read events, as older keys: the rest of the comparison works as before. */
import { expect, test } from "vitest";
import { rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";

const m = await startMoney(18);

/** Two days later, that hour's comparison: how many days back it asks for lists and events. */
async function compared(): Promise<[lists: number, events: number]> {
  await rowsOf(
    m.superuser,
    "update billing.reconciliations set asked_at = asked_at - interval '2 days', moved_at = moved_at - interval '2 days'",
  );
  const before = m.stripe.asked("list").length;
  await m.timers();
  for (let page = 0; page < 6; page += 1) await m.deliver();
  const asked = m.stripe.asked("list").slice(before);
  const daysOf = (kind: string): number => {
    const since = asked.find((list) => list["kind"] === kind)?.["since"];
    return Math.round((Date.now() / 1000 - Number(since)) / 86_400);
  };
  return [daysOf("sessions"), daysOf("changes")];
}

test("lists are read from the last comparison on, and events from the last complete one", async () => {
  await m.bought();
  await compared();
  await rowsOf(m.superuser, "update billing.reconciliations set finished_at = now(), cursor = null");
  let isRefused = true;
  for (let list = 0; list < 100; list += 1) {
    m.stripe.instead("list", ({ kind }) =>
      isRefused && kind === "changes" ? { kind: "rejected", code: "http_403", reason: "no" } : undefined,
    );
  }
  expect(await compared()).toEqual([3, 3]);
  expect(await compared()).toEqual([3, 5]);
  isRefused = false;
  expect(await compared()).toEqual([3, 7]);
  expect(await compared()).toEqual([3, 3]);
});
