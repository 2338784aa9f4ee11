/** The hosted Checkout and the account's page, in a browser: on a phone, by keyboard, and without scripts. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startBrowser } from "../../../helpers/browser.ts";
import { setStage, type Stage } from "../harness.ts";
import { client, monthly, order } from "./client.ts";

const browser = startBrowser();
const phone = { viewport: { width: 360, height: 740 } };
const withMarkup = '"><script>alert(1)</script>&amp;';

/** The customer must be sent to an existing page. */
async function makeSession(stage: Stage, terms: typeof order | typeof monthly = order): Promise<string> {
  const { url } = stage.sandbox;
  const made = await client(stage.sandbox).checkout.sessions.create({
    ...terms,
    success_url: `${url}/mail`,
    cancel_url: url,
  });
  return made.id;
}

async function fits(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
}

test("a customer on a phone without scripts is declined, told so, tries another card by keyboard, and pays", async () => {
  await using stage = await setStage();
  const id = await makeSession(stage);
  const context = await browser.current.newContext({ ...phone, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${stage.sandbox.url}/stripe/checkout/${id}`);
  await fits(page);
  const card = page.getByLabel("Card number");
  await card.fill("4000 0000 0000 0002");
  await card.press("Enter");
  expect(await page.getByRole("alert").textContent()).toContain("Your card was declined. Nothing was charged.");
  await fits(page);
  expect(stage.sandbox.stripe.session(id).status).toBe("open");
  await page.getByLabel("Card number").fill("4242424242424242");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${stage.sandbox.url}/mail`);
  expect(stage.sandbox.stripe.session(id)).toMatchObject({ status: "complete", paymentStatus: "paid" });
  await page.goBack();
  await page.getByText("This checkout is complete.").waitFor();
  await context.close();
});

test("on the account's page a person plays the bank, the dashboard and time", async () => {
  await using stage = await setStage();
  const { stripe, url } = stage.sandbox;
  const debit = await makeSession(stage);
  stripe.payLater(debit);
  stripe.pay(await makeSession(stage, monthly));
  const page = await browser.current.newPage(phone);
  const press = async (name: string): Promise<void> => {
    await page.goto(`${url}/stripe`);
    await page.getByRole("button", { name, exact: true }).first().click();
    await page.waitForURL(`${url}/stripe`);
  };
  await press("Let the payment go through");
  expect(stripe.session(debit).paymentStatus).toBe("paid");
  await press("Renew: payment fails");
  await press("Pay the open bill");
  await press("Cancel at the month’s end");
  await press("Renew: paid");
  expect(stripe.subscriptions()).toMatchObject([{ status: "canceled" }]);
  await press("Refund half of it");
  expect(stripe.refunds()).toMatchObject([{ amount: 2_400_00, metadata: {} }]);
  await press("Let it fail");
  await press("Dispute it");
  await press("Lose it");
  expect(stripe.books()).toEqual([{ currency: "usd", taken: 3 * 4_800_00, refunded: 0, disputed: 4_800_00 }]);
  await page.getByText("Disputed").first().waitFor();
  await fits(page);
  await page.close();
});

test("the delivery of events is chosen on the page, and those that are held back are sent from there", async () => {
  await using stage = await setStage();
  const { stripe, url } = stage.sandbox;
  const page = await browser.current.newPage(phone);
  const choose = async (label: string): Promise<void> => {
    await page.goto(`${url}/stripe`);
    await page.getByLabel("Events are sent", { exact: true }).selectOption({ label });
    await page.getByRole("button", { name: "Change" }).click();
    await page.waitForURL(`${url}/stripe`);
  };
  await choose("when I release them");
  stripe.pay(await makeSession(stage));
  stripe.pay(await makeSession(stage));
  await page.reload();
  await page.getByText("2 held back.").waitFor();
  await fits(page);
  await page.getByRole("button", { name: "Send the newest first" }).click();
  await page.getByText("0 held back.").waitFor();
  const ids = stage.ear.heard.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  expect(ids).toEqual(
    stripe
      .events()
      .map(({ id }) => id)
      .toReversed(),
  );
  await choose("twice, late and out of order");
  expect(stripe.delivery().plan).toMatchObject({ copies: 2, held: false });
  await choose("never");
  expect(stripe.delivery().plan).toMatchObject({ lostShare: 1 });
  await choose("at once, once");
  expect(stripe.delivery().plan).toMatchObject({ copies: 1, withinMs: 0, lostShare: 0 });
  await page.close();
});

test("text from outside is shown as text", async () => {
  await using stage = await setStage();
  const line = { quantity: 1, price_data: { currency: "usd", unit_amount: 500, product_data: { name: withMarkup } } };
  const metadata = { headroom_request: withMarkup };
  const made = await client(stage.sandbox).checkout.sessions.create({
    ...order,
    line_items: [line],
    client_reference_id: withMarkup,
    metadata,
  });
  for (const path of ["/stripe", `/stripe/checkout/${made.id}`]) {
    const markup = await (await fetch(`${stage.sandbox.url}${path}`)).text();
    expect(markup).not.toContain("<script>alert");
    expect(markup).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;");
  }
  const query = new URLSearchParams({ declined: withMarkup });
  const declined = await (await fetch(`${stage.sandbox.url}/stripe/checkout/${made.id}?${query.toString()}`)).text();
  expect(declined).toContain("not one of Stripe’s test cards");
  expect(declined).not.toContain("<script>alert");
});
