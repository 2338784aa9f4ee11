/**
 * Short scenes about money, without random faults: for planted bugs, and as the start of tests that kill.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import type { Findings } from "../kit/findings.ts";
import { eventually } from "../kit/eventually.ts";
import { Random } from "../kit/random.ts";
import { plainLogin } from "./directory.ts";
import { Hostile, takeLocks } from "./hostile.ts";
import { cards } from "./settings.ts";
import type { Offer, PaymentsStage } from "./stage.ts";

let customers = 0;

export async function offered(stage: PaymentsStage, size = "32XL"): Promise<Offer> {
  customers += 1;
  const [offer] = await stage.offer([{ customer: `customer-${customers}`, size, quantity: 2 }]);
  if (offer === undefined) throw new Error("no offer was made");
  return offer;
}

/** The newest page on which an offer can be paid, except those already known. */
export function page(stage: PaymentsStage, { id }: Offer, known: readonly string[] = []): Promise<string> {
  return eventually(async () => {
    const [row] = await stage.rows<{ session_id: string }>(
      `select s.session_id from billing.sessions s join billing.checkouts c on c.id = s.checkout_id
        where c.request_id = $1 and s.session_id <> all ($2) order by c.number desc limit 1`,
      [id, known],
    );
    return row?.session_id;
  }, "Stripe's page");
}

export async function onPage(stage: PaymentsStage, size?: string): Promise<{ offer: Offer; session: string }> {
  const offer = await offered(stage, size);
  await stage.begin(offer);
  return { offer, session: await page(stage, offer) };
}

export function isIn(stage: PaymentsStage, { id }: Offer, state: string): Promise<true> {
  return eventually(async () => {
    const [row] = await stage.rows<{ state: string }>("select state from capacity.requests where id = $1", [id]);
    return row?.state === state;
  }, `${id} to be ${state}`);
}

/** An offer that was paid by card, and whose job has begun. */
export async function bought(stage: PaymentsStage, size?: string): Promise<{ offer: Offer; session: string }> {
  const { offer, session } = await onPage(stage, size);
  await stage.stripe.ask("pay", session, cards.good);
  await isIn(stage, offer, "PROVISIONING");
  return { offer, session };
}

export async function fail(stage: PaymentsStage, { id }: Offer): Promise<void> {
  await stage.rows(
    "select public.fail_provisioning_job(j.id::text, 'not possible', 'otto') from provisioning.jobs j where j.request_id = $1",
    [id],
  );
}

export async function complete(stage: PaymentsStage, { id }: Offer): Promise<void> {
  await stage.rows(
    "select public.complete_provisioning_job(j.id::text, 'bought elsewhere', 'otto') from provisioning.jobs j where j.request_id = $1",
    [id],
  );
}

export const scenes = {
  /** The first page is paid while the second is made, and then the second too, before the first was reported. */
  async "two tabs"(stage) {
    const { offer, session } = await onPage(stage);
    await stage.stripe.ask("deliver", { held: true });
    await stage.nearlyOver(offer.id);
    await stage.stripe.ask("pay", session, cards.good);
    await stage.begin(offer);
    const second = await page(stage, offer, [session]);
    await stage.stripe.ask("pay", second, cards.good);
    await stage.stripe.ask("deliver", {});
    await stage.stripe.ask("release", "as_made");
  },
  async "a job that fails for good"(stage) {
    const { offer } = await bought(stage);
    await fail(stage, offer);
  },
  async "a job that succeeds"(stage) {
    const { offer } = await bought(stage);
    await complete(stage, offer);
  },
  async "one runs and one fails"(stage) {
    const first = await bought(stage);
    await complete(stage, first.offer);
    const second = await bought(stage);
    await fail(stage, second.offer);
  },
  async "a part is refunded and the answer lost"(stage) {
    const { offer } = await bought(stage);
    await complete(stage, offer);
    await stage.stripe.ask("addFault", {
      provider: "stripe",
      method: "refunds.create",
      kind: "dropAfterAccept",
      times: 1,
    });
    await stage.rows(
      "select public.refund_payment(p.id::text, 'a part', 1000, 'otto') from billing.payments p where p.request_id = $1",
      [offer.id],
    );
  },
  async "an event comes twice"(stage) {
    await stage.stripe.ask("deliver", { copies: 2 });
    const { offer } = await bought(stage);
    await complete(stage, offer);
  },
  async "paid after the deadline, before the sweep"(stage) {
    const { offer, session } = await onPage(stage);
    await stage.pastDeadline(offer.id);
    // Stripe counts in whole seconds.
    await pause(1_100);
    await stage.stripe.ask("pay", session, cards.good);
    await eventually(async () => {
      const paid = await stage.rows("select from billing.payments where request_id = $1", [offer.id]);
      return paid.length > 0;
    }, "the payment");
  },
  async "a refund of which no event tells"(stage) {
    const { offer } = await bought(stage);
    await stage.stripe.ask("deliver", { lostShare: 1 });
    await fail(stage, offer);
  },
  async "a debit that fails"(stage) {
    const { session } = await onPage(stage);
    await stage.stripe.ask("payLater", session);
    await stage.stripe.ask("delivered");
    await stage.stripe.ask("settle", session, "failed");
  },
  async "a subscription whose job fails for good"(stage) {
    const { offer } = await bought(stage, "MONTHLY");
    await fail(stage, offer);
  },
  async "strangers try everything"(stage, findings) {
    const { offer } = await bought(stage);
    await onPage(stage);
    await stage.stripe.ask("deliver", { lostShare: 1 });
    await takeLocks(await stage.stranger(plainLogin));
    const hostile = new Hostile(stage, new Random(1), findings, () => undefined);
    const client = await stage.stranger("headroom_ingest");
    for (const act of Object.values(hostile.acts)) await act(client);
    await fail(stage, offer);
    await stage.rows("select billing.reconcile_payments('otto', now() - interval '1 day')");
  },
} satisfies Record<string, (stage: PaymentsStage, findings: Findings) => Promise<void>>;
