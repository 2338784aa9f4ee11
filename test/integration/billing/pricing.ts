/**
 * Prices for tests: set as operators set them, by the role that the command line connects as.
 *
 * Does not own: what is asserted.
 */
import { oneOf, rowsOf, type RequestRow, type Workflow } from "../capacity/harness.ts";

export interface PriceInput {
  readonly size?: string;
  readonly region?: string | null;
  readonly duration_days?: number | null;
  readonly kind?: "one_off" | "recurring";
  readonly currency?: string;
  readonly unit_amount?: number;
  readonly valid_from?: string;
}

export interface PriceRow {
  readonly id: string;
  readonly unit_amount: string;
  readonly currency: string;
  readonly withdrawn_at: Date | null;
}

export interface Offer {
  readonly price_id: string;
  readonly kind: "one_off" | "recurring";
  readonly currency: string;
  readonly unit_amount: number;
  readonly quantity: number;
  readonly amount: number;
  readonly interval: "month" | null;
  readonly duration_days: number | null;
  readonly monthly_usd: number | null;
  readonly words: string;
}

/** Adds a price to Acme. Default: USD 300.00 a month for one 32XL. */
export async function putPrice(workflow: Workflow, input: PriceInput = {}, workspace = "acme"): Promise<PriceRow> {
  const price = { size: "32XL", kind: "recurring", currency: "USD", unit_amount: 30_000, ...input };
  return oneOf<PriceRow>(workflow.superuser, "select * from billing.put_price($1, $2, 'test')", [
    workspace,
    JSON.stringify(price),
  ]);
}

export async function setRate(workflow: Workflow, currency: string, usd: string | null): Promise<void> {
  await rowsOf(workflow.superuser, "select billing.set_rate('acme', $1, $2, 'test')", [currency, usd]);
}

export async function withdraw(workflow: Workflow, priceId: string): Promise<void> {
  await rowsOf(workflow.superuser, "select billing.withdraw_price($1, 'a typing error', 'test')", [priceId]);
}

/** Removes every price and rate, so that a test begins with none. */
export async function noPrices(workflow: Workflow): Promise<void> {
  await rowsOf(workflow.superuser, "delete from billing.prices");
  await rowsOf(workflow.superuser, "delete from billing.exchange_rates");
  await rowsOf(workflow.superuser, "delete from billing.settings");
}

export async function offerOf(workflow: Workflow, id: string): Promise<Offer | null> {
  const { offer } = await oneOf<{ offer: Offer | null }>(
    workflow.superuser,
    "select offer from public.capacity_requests where id = $1",
    [id],
  );
  return offer;
}

/** The offer that a new request with these terms gets. */
export async function offerFor(workflow: Workflow, input: Parameters<Workflow["create"]>[0]): Promise<Offer | null> {
  const request: RequestRow = await workflow.create(input);
  return offerOf(workflow, request.id);
}
