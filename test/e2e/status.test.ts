/** The customer's page from the offer to running capacity and to a refund, in a real browser that runs no script. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { answerCheckout } from "../integration/billing/wizard.ts";
import { rowsOf } from "../integration/capacity/harness.ts";
import { startTestGateway } from "../integration/http/harness.ts";
import { startPaying } from "../integration/http/paying.ts";
import { everyLook, expectToFit, startStripe, tabTo, visit } from "./customer.ts";

const browser = startBrowser();
const { workflow, offer, say } = await startPaying();
const stripe = await startStripe();
const gateway = await startTestGateway(workflow.db, {
  dependencies: { payments: { checkoutOrigins: [stripe.url], waitMs: 50 }, trustedProxies: 1 },
});

let customers = 0;
const priced = () => offer({ customer: { name: "Initech", email: `cfo${(customers += 1)}@initech.example` } });

/** A run starts on the job of a request, and reports its steps. */
const provision = (id: string) =>
  rowsOf(
    workflow.superuser,
    `with job as (update provisioning.jobs set state = 'provisioning', attempts = 1 where request_id = $1 returning id),
          run as (insert into provisioning.attempts (job_id, task, number, workspace_id, owner, repo, workflow, status, claimed_at, progress)
                  select id, 'provision', 1, 'acme', 'o', 'r', 'w', 'claimed', now(), 40 from job)
     insert into provisioning.steps (job_id, task, attempt, n, step)
     select id, 'provision', 1, n, step from job, unnest(array['Reserve the capacity', 'Create the machines']) with ordinality s(step, n)`,
    [id],
  );

test("a customer pays with two keys, waits for Stripe's page, and it opens automatically", async () => {
  const { id, token } = await priced();
  await visit(browser.current, { width: 360, scheme: "light" }, async (page) => {
    await page.goto(`${gateway.url}/confirm/${token}`);
    await tabTo(page, "button");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Preparing the payment" }).waitFor();
    const sent = page.waitForURL(`${stripe.url}/pay`);
    const checkout = await answerCheckout(workflow, id, `${stripe.url}/pay`);
    await sent;
    await page.goto(`${gateway.url}/paid/${checkout}`);
    await page.getByRole("heading", { name: "We are checking your payment" }).waitFor();
    await say(id, { status: "complete", payment_status: "paid", mode: "payment" });
    // The page refreshes automatically.
    await page.getByRole("heading", { name: "This offer is confirmed" }).waitFor({ timeout: 15_000 });
  });
  expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
});

test("every page of the customer fits a phone and a desk, in light and in dark", { timeout: 90_000 }, async () => {
  const paid = await priced();
  const slow = await priced();
  await visit(browser.current, everyLook[0], async (page: Page) => {
    const show = async (path: string, name: string): Promise<void> => {
      await page.goto(`${gateway.url}${path}`);
      await expectToFit(page, `status-${name}`, everyLook);
    };
    const pay = async ({ id, token }: { id: string; token: string }): Promise<string> => {
      await page.goto(`${gateway.url}/confirm/${token}`);
      await page.getByRole("button", { name: "Pay USD" }).click();
      await page.getByRole("heading", { name: "Preparing the payment" }).waitFor();
      return id;
    };
    await show(`/confirm/${paid.token}`, "open");
    await pay(paid);
    await show(`/confirm/${paid.token}/pay`, "preparing");
    await answerCheckout(workflow, paid.id, `${stripe.url}/pay`);
    await show(`/confirm/${paid.token}?returned=1`, "returned");
    await show(`/confirm/${paid.token}?cancelled=1`, "cancelled");
    await say(paid.id, { status: "complete", payment_status: "paid", mode: "payment" });
    await provision(paid.id);
    await show(`/confirm/${paid.token}`, "provisioning");
    await rowsOf(
      workflow.superuser,
      "update provisioning.jobs set state = 'running', completed_at = now() where request_id = $1",
      [paid.id],
    );
    await show(`/confirm/${paid.token}`, "running");
    await rowsOf(
      workflow.superuser,
      "select capacity.decide($1, 'PROVISIONING_FAILED', row('system', 'test', 'test')::capacity.actor, '{}')",
      [paid.id],
    );
    await rowsOf(workflow.superuser, "update provisioning.jobs set state = 'given_up' where request_id = $1", [
      paid.id,
    ]);
    await show(`/confirm/${paid.token}`, "failed");
    await pay(slow);
    await answerCheckout(workflow, slow.id, `${stripe.url}/pay`);
    await say(slow.id, { status: "complete", payment_status: "unpaid", mode: "payment" });
    await show(`/confirm/${slow.token}`, "processing");
    await show(`/paid/${"0".repeat(36)}`, "thanks");
  });
});
