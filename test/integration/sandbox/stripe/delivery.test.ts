/** How events arrive: doubled, late, out of order, held back, or never. */
import { expect, test } from "vitest";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { setStage, type Ear } from "../harness.ts";
import { client, order } from "./client.ts";

const patience = (): AbortSignal => AbortSignal.timeout(10_000);

/** Pays that many sessions, each of which makes one event. */
async function payMany(sandbox: Sandbox, count: number): Promise<void> {
  const stripe = client(sandbox);
  for (let n = 0; n < count; n += 1) sandbox.stripe.pay((await stripe.checkout.sessions.create(order)).id);
}

function idsHeard({ heard }: Ear): string[] {
  return heard.map(({ body }) => (JSON.parse(body) as { id: string }).id);
}

const idsMade = ({ stripe }: Sandbox): string[] => stripe.events().map(({ id }) => id);

test("each event comes as often as requested", async () => {
  await using stage = await setStage();
  stage.sandbox.stripe.deliver({ copies: 3 });
  await payMany(stage.sandbox, 2);
  await stage.sandbox.stripe.delivered();
  const made = idsMade(stage.sandbox);
  expect(idsHeard(stage.ear).toSorted()).toEqual(made.flatMap((id) => [id, id, id]));
});

test("events that are sent within a time overtake each other, and all arrive", async () => {
  await using stage = await setStage();
  stage.sandbox.stripe.deliver({ withinMs: 300, seed: 3 });
  await payMany(stage.sandbox, 12);
  await stage.sandbox.stripe.delivered();
  const made = idsMade(stage.sandbox);
  expect(idsHeard(stage.ear).toSorted()).toEqual(made);
  expect(idsHeard(stage.ear)).not.toEqual(made);
});

test("events that are held back arrive when they are released, in the requested order", async () => {
  await using stage = await setStage();
  const { stripe } = stage.sandbox;
  stripe.deliver({ held: true });
  await payMany(stage.sandbox, 3);
  expect([stripe.delivery().held, stage.ear.heard.length]).toEqual([3, 0]);
  expect(await stripe.release("reversed")).toBe(3);
  expect(idsHeard(stage.ear)).toEqual(idsMade(stage.sandbox).toReversed());
  expect(await stripe.release()).toBe(0);
});

test("events that are lost never come, and Stripe can still be queried; a changed plan applies to the next", async () => {
  await using stage = await setStage();
  const { stripe } = stage.sandbox;
  stripe.deliver({ lostShare: 1 });
  await payMany(stage.sandbox, 2);
  stripe.deliver({});
  await payMany(stage.sandbox, 1);
  await stripe.delivered();
  expect(idsHeard(stage.ear)).toEqual(idsMade(stage.sandbox).slice(-1));
  expect(stripe.delivery()).toMatchObject({ lost: 2, plan: { copies: 1, lostShare: 0 } });
  expect((await client(stage.sandbox).events.list()).data).toHaveLength(3);
});

test("an event that is not accepted comes again when the plan says so", async () => {
  await using stage = await setStage();
  stage.sandbox.stripe.deliver({ repeatAfterMs: [0, 0] });
  stage.ear.replies.push({ status: 500 }, { status: 422 });
  await payMany(stage.sandbox, 1);
  await stage.ear.heardAtLeast(3, patience());
  expect(new Set(idsHeard(stage.ear)).size).toBe(1);
});

test("the control API plans and releases, and refuses nonsense", async () => {
  await using stage = await setStage();
  const ask = async (method: string, path: string, body?: unknown): Promise<[number, unknown]> => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${stage.sandbox.url}/_control/stripe/${path}`, init);
    return [response.status, await response.json()];
  };
  expect(await ask("PUT", "delivery", { held: true, copies: 2 })).toMatchObject([
    200,
    { plan: { held: true, copies: 2 } },
  ]);
  await payMany(stage.sandbox, 1);
  expect(await ask("GET", "delivery")).toMatchObject([200, { held: 1 }]);
  expect(await ask("POST", "release", { order: "shuffled" })).toEqual([200, { released: 1 }]);
  expect(stage.ear.heard).toHaveLength(2);
  expect(await ask("GET", "books")).toEqual([
    200,
    { books: [{ currency: "usd", taken: 4_800_00, refunded: 0, disputed: 0 }] },
  ]);
  for (const bad of [{ copies: 99 }, { lostShare: 2 }, { speed: 1 }, { repeatAfterMs: Array(50).fill(1) }, "x"]) {
    expect((await ask("PUT", "delivery", bad))[0]).toBe(400);
  }
  expect((await ask("POST", "release", { order: "sideways" }))[0]).toBe(400);
  stage.sandbox.reset();
  expect(await ask("GET", "delivery")).toMatchObject([200, { held: 0, lost: 0, plan: { held: false, copies: 1 } }]);
});
