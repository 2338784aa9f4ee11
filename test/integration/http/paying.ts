/** Offers with a price, and what Stripe and provisioning would report about them. */
import { oneOf, rowsOf, type Workflow } from "../capacity/harness.ts";
import { beforeAll } from "vitest";
import { startOffers, type Offers } from "./offers.ts";

export interface Paying extends Offers {
  /** Stripe reports the state of a request's newest session. */
  readonly say: (requestId: string, session: Readonly<Record<string, unknown>>, type?: string) => Promise<void>;
}

/** One 32XL is USD 300.00 for the whole time. Call it while tests are being collected. */
export async function startPaying(): Promise<Paying> {
  const offers = await startOffers();
  const { workflow } = offers;
  beforeAll(async () => {
    await workflow.db.superuser.pool.query(`
      update directory.workspaces set public_url = 'https://capacity.acme.example' where id = 'acme';
      insert into billing.prices (workspace_id, size, region, kind, currency, unit_amount, created_by)
      values ('acme', '32XL', 'us-east-1', 'one_off', 'USD', 30000, 'test')`);
  });
  return { ...offers, say: (id, session, type) => say(workflow, id, session, type) };
}

/** The text that a reader sees on a page. */
export const words = (page: string): string =>
  page
    .replace(/<style>[^]*<\/style>/, "")
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ")
    .replace(/ ([.,:])/g, "$1");

let events = 0;

async function say(
  workflow: Workflow,
  requestId: string,
  session: Readonly<Record<string, unknown>>,
  type = "checkout.session.completed",
): Promise<void> {
  const checkout = await oneOf<{ id: string; amount: string; currency: string; installation: string }>(
    workflow.superuser,
    `select c.id, c.amount, c.currency, (select i.id from billing.installation i) as installation
       from billing.checkouts c where c.request_id = $1 order by c.number desc limit 1`,
    [requestId],
  );
  const object = {
    object: "checkout.session",
    id: `cs_test_${checkout.id.replaceAll("-", "")}`,
    amount_total: Number(checkout.amount),
    currency: checkout.currency.toLowerCase(),
    payment_intent: `pi_${checkout.id.replaceAll("-", "")}`,
    metadata: {
      headroom_installation: checkout.installation,
      headroom_checkout: checkout.id,
      headroom_request: requestId,
      headroom_workspace: "acme",
    },
    ...session,
  };
  await rowsOf(workflow.superuser, "select billing.apply_stripe_object($1, $2, now(), $3)", [
    JSON.stringify(object),
    `evt_${(events += 1)}`,
    type,
  ]);
}
