/**
 * The parts that carry money are killed with -9 at named steps: between our intent and Stripe, between Stripe and our record of it, while
 * Stripe sends an event, and while the sweep handles what no event reported.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Findings } from "../kit/findings.ts";
import { eventually } from "../kit/eventually.ts";
import { Random } from "../kit/random.ts";
import { renderFindings } from "../kit/report.ts";
import { collectTests, ofTier } from "../kit/tiers.ts";
import { judge } from "./oracle.ts";
import { Outside } from "./outside.ts";
import { comeToRest } from "./rest.ts";
import { bought, complete, fail, isIn, offered, onPage, page } from "./scenes.ts";
import { calmDelivery, cards } from "./settings.ts";
import { PaymentsStage, type Offer } from "./stage.ts";

const boundMs = 120_000;
vi.setConfig({ testTimeout: boundMs, hookTimeout: boundMs });

let stage: PaymentsStage;
beforeAll(async () => {
  stage = await PaymentsStage.open();
  await stage.stripe.ask("deliver", calmDelivery);
});
afterAll(async () => {
  vi.resetConfig();
  await stage.close();
});
afterEach(async () => {
  await stage.startWhatIsGone();
});

const kills = collectTests();

/** The offer has ended in this state with this many payments and refunds, and everything agrees with Stripe. */
async function ends({ id }: Offer, state: string, payments: number, refunds: number): Promise<void> {
  const outside = new Outside(stage, new Random(1), () => undefined);
  await comeToRest(stage, outside, AbortSignal.timeout(boundMs / 2), () => undefined);
  const [found] = await stage.rows(
    `select r.state, (select count(*)::integer from billing.payments p where p.request_id = r.id) as payments,
            (select count(*)::integer from billing.refunds f where f.request_id = r.id and f.state = 'succeeded') as refunds
       from capacity.requests r where r.id = $1`,
    [id],
  );
  expect(found).toEqual({ state, payments, refunds });
  const findings = new Findings();
  await judge(stage, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
}

for (const at of ["send.before", "send.after", "settle.before"] as const)
  kills.add(
    `a relay is killed with the making of the page in its hands: at ${at} there is one page in the end, and it can be paid`,
    async () => {
      await stage.startRelay({ operation: "checkout.create", at });
      const offer = await offered(stage);
      const checkout = await stage.begin(offer);
      await stage.relayGone();
      await stage.startRelay();
      const session = await page(stage, offer);
      expect(await stage.stripe.ask("sessionOf", checkout)).toMatchObject({ id: session });
      await stage.stripe.ask("pay", session, cards.good);
      await isIn(stage, offer, "PROVISIONING");
      await complete(stage, offer);
      await ends(offer, "COMPLETED", 1, 0);
    },
  );

for (const at of ["during", "before the answer"] as const)
  kills.add(`the server is killed while Stripe reports a payment, ${at}: the payment counts once`, async () => {
    await stage.startWhatIsGone();
    const { offer, session } = await onPage(stage);
    await stage.startServer({ type: "checkout.session.completed", at });
    await stage.stripe.ask("pay", session, cards.good);
    await stage.serverGone();
    await stage.startServer();
    await isIn(stage, offer, "PROVISIONING");
    await complete(stage, offer);
    await ends(offer, "COMPLETED", 1, 0);
  });

for (const at of ["send.before", "send.after", "settle.before"] as const)
  kills.add(`a relay is killed with a refund in its hands: at ${at} the money goes back once`, async () => {
    await stage.startWhatIsGone();
    const { offer } = await bought(stage);
    await stage.startRelay({ operation: "refund", at });
    await fail(stage, offer);
    await stage.relayGone();
    await stage.startRelay();
    await ends(offer, "FAILED", 1, 1);
  });

kills.add("a page that Stripe refused to close is closed in the end", async () => {
  await stage.startWhatIsGone();
  const { offer, session } = await onPage(stage);
  await stage.stripe.ask("addFault", {
    provider: "stripe",
    method: "checkout.sessions.expire",
    kind: "refuse",
    times: 1,
  });
  await stage.cancel(offer);
  const givenUp = "select from outbox.dead";
  await eventually(async () => (await stage.rows(givenUp)).length > 0, "the call to be given up");
  await ends(offer, "CANCELLED", 0, 0);
  expect(await stage.stripe.ask("pay", session, cards.good)).toMatchObject({ kind: "refused" });
});

kills.add("Postgres is killed while the sweep takes over what nobody told: the next one does it, once", async () => {
  await stage.startWhatIsGone();
  const { offer, session } = await onPage(stage);
  await stage.stripe.ask("deliver", { lostShare: 1 });
  await stage.stripe.ask("pay", session, cards.good);
  await stage.stripe.ask("deliver", calmDelivery);
  await stage.hurryMoney();
  await stage.sweep();
  const seen = "select from billing.sightings where object ->> 'payment_status' = 'paid'";
  await eventually(async () => (await stage.rows(seen)).length > 0, "Stripe's word");
  const sweeping = await stage.connect();
  await sweeping.query("begin");
  await sweeping.query("select public.run_capacity_request_timers()");
  const paid = "select from billing.payments where request_id = $1";
  expect((await sweeping.query(paid, [offer.id])).rowCount).toBe(1);
  await stage.crashPostgres();
  await sweeping.end().catch(() => undefined);
  expect(await stage.rows(paid, [offer.id])).toEqual([]);
  await stage.startWhatIsGone();
  await stage.sweep();
  await isIn(stage, offer, "PROVISIONING");
  await complete(stage, offer);
  await ends(offer, "COMPLETED", 1, 0);
});

kills.add(
  "Postgres is killed with a refund that Stripe has made and not answered yet: it is found, and not made again",
  async () => {
    await stage.startWhatIsGone();
    const { offer } = await bought(stage);
    await stage.stripe.ask("addFault", { provider: "stripe", method: "refunds.create", kind: "late", times: 1 });
    const refundsBefore = await stage.stripe.ask("calls", "refunds.create");
    await fail(stage, offer);
    await eventually(async () => (await stage.stripe.ask("calls", "refunds.create")) > refundsBefore, "a call");
    await stage.crashPostgres();
    await stage.stripe.ask("releaseAnswers");
    await stage.startWhatIsGone();
    await ends(offer, "FAILED", 1, 1);
  },
);

test.each(await ofTier(kills.tests, 3))("$name", ({ play }) => play());
