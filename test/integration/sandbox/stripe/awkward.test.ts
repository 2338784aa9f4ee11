/** Stripe's awkward behaviour: two modes, lists that lag, ties, objects that are busy, bills that nobody pays, events held back. */
import { Stripe } from "stripe";
import { expect, test } from "vitest";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { setStage } from "../harness.ts";
import { client, monthly, order } from "./client.ts";

function inLiveMode({ url }: Sandbox): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe("sk_live_anything", { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
}

test("a key of one mode sees nothing of the other, and events say which mode they belong to", async () => {
  await using stage = await setStage();
  const { stripe } = stage.sandbox;
  const [played, live] = [client(stage.sandbox), inLiveMode(stage.sandbox)];
  const inPlay = await played.checkout.sessions.create(order);
  const earnest = await live.checkout.sessions.create(order);
  expect([inPlay.livemode, earnest.livemode]).toEqual([false, true]);
  for (const { id } of [inPlay, earnest]) stripe.pay(id);
  const intent = stripe.payment(earnest.id).id;
  expect((await live.paymentIntents.list()).data.map(({ id }) => id)).toEqual([intent]);
  expect((await played.paymentIntents.list()).data.map(({ id }) => id)).toEqual([stripe.payment(inPlay.id).id]);
  for (const ask of [
    () => played.checkout.sessions.retrieve(earnest.id),
    () => played.paymentIntents.retrieve(intent),
    () => played.refunds.list({ payment_intent: intent }),
    () => played.refunds.create({ payment_intent: intent }),
  ])
    await expect(ask()).rejects.toMatchObject({ code: "resource_missing" });
  await live.refunds.create({ payment_intent: intent });
  expect(stripe.events().map(({ type, livemode }) => `${type} ${livemode}`)).toEqual([
    "checkout.session.completed false",
    "checkout.session.completed true",
    "charge.refunded true",
    "refund.created true",
  ]);
  expect((await played.events.list()).data).toHaveLength(1);
});

test("lists may lag behind, while single objects are available immediately", async () => {
  const clock = { now: Date.parse("2026-11-19T12:00:00Z") };
  await using stage = await setStage({ now: () => clock.now });
  const api = client(stage.sandbox);
  stage.sandbox.stripe.lagLists(5);
  const { id } = await api.checkout.sessions.create(order);
  expect((await api.checkout.sessions.retrieve(id)).id).toBe(id);
  expect((await api.checkout.sessions.list()).data).toEqual([]);
  clock.now += 5_000;
  expect((await api.checkout.sessions.list()).data.map((session) => session.id)).toEqual([id]);
});

test("objects made in one second are paged without a gap or a repeat, in another order than they were made", async () => {
  await using stage = await setStage({ now: () => Date.parse("2026-11-19T12:00:00Z") });
  const api = client(stage.sandbox);
  const made: string[] = [];
  for (let count = 0; count < 12; count += 1) made.push((await api.checkout.sessions.create(order)).id);
  const listed: string[] = [];
  for await (const { id } of api.checkout.sessions.list({ limit: 5 })) listed.push(id);
  expect(listed.toSorted()).toEqual(made.toSorted());
  expect(listed).not.toEqual(made.toReversed());
});

test("an object that is busy is refused in Stripe's words", async () => {
  await using stage = await setStage();
  stage.sandbox.faults.add({ provider: "stripe", kind: "locked", times: 1 });
  await expect(client(stage.sandbox).checkout.sessions.create(order)).rejects.toMatchObject({
    code: "lock_timeout",
    statusCode: 429,
  });
});

test("a bill is voided or given up, and one that was given up can still be paid", async () => {
  await using stage = await setStage();
  const { stripe } = stage.sandbox;
  const api = client(stage.sandbox);
  const { id } = await api.checkout.sessions.create(monthly);
  stripe.pay(id);
  const subscription = stripe.session(id).subscription ?? "";
  const voided = stripe.renew(subscription, "failed")?.id ?? "";
  stripe.voidInvoice(voided);
  expect(() => stripe.payAgain(voided, "succeeded")).toThrow("is void");
  const doubtful = stripe.renew(subscription, "failed")?.id ?? "";
  stripe.giveUpInvoice(doubtful);
  expect(() => stripe.giveUpInvoice(doubtful)).toThrow("is uncollectible");
  stripe.payAgain(doubtful, "succeeded");
  const at: unknown = expect.any(Number);
  expect(await api.invoices.retrieve(voided)).toMatchObject({ status: "void", status_transitions: { voided_at: at } });
  expect(await api.invoices.retrieve(doubtful)).toMatchObject({
    status: "paid",
    status_transitions: { marked_uncollectible_at: at, paid_at: at },
  });
});

test("a discount changes the amount paid", async () => {
  await using stage = await setStage();
  const api = client(stage.sandbox);
  const { id } = await api.checkout.sessions.create(order);
  stage.sandbox.stripe.discount(id, 1_000);
  stage.sandbox.stripe.pay(id);
  expect(await api.checkout.sessions.retrieve(id)).toMatchObject({ amount_total: 1_000, payment_status: "paid" });
});

test("events that are held back can be taken over, and sent by the caller", async () => {
  await using stage = await setStage();
  const { stripe } = stage.sandbox;
  stripe.deliver({ held: true });
  stripe.pay((await client(stage.sandbox).checkout.sessions.create(order)).id);
  const [held, ...others] = stripe.takeHeld();
  expect([held?.event.type, others, stripe.takeHeld(), stripe.delivery().held]).toEqual([
    "checkout.session.completed",
    [],
    [],
    0,
  ]);
  expect(await held?.send()).toMatchObject({ kind: "answered", status: 200 });
  expect(await held?.send()).toMatchObject({ kind: "answered", status: 200 });
  expect(stage.ear.heard.length).toBe(2);
});
