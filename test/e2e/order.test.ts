/** Self-service from the first page to the receipt, on a phone without script: real mail, a real relay, and the sandbox's Stripe. */
import { expect, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { rowsOf } from "../integration/capacity/harness.ts";
import { startProductStage } from "../integration/product/harness.ts";
import { expectNarrow, keepPicture, visit } from "./customer.ts";

const browser = startBrowser();
const { db, gateway, sandbox } = await startProductStage();
await db.superuser.pool.query(`
  insert into capacity.policies (workspace_id, id, kind, step, sizes) values ('default', 'small-shop', 'auto_approval', 'both', '{S}');
  insert into billing.prices (workspace_id, size, kind, currency, unit_amount, created_by) values ('default', 'S', 'one_off', 'USD', 4200, 'test');
  insert into billing.settings (workspace_id, self_service_requester)
  select 'default', m.id from directory.members m where m.workspace_id = 'default' and 'requester' = any (m.roles) order by m.id limit 1`);

/** The link in the newest mail to an address, once it has come. */
async function linkFor(address: string): Promise<string> {
  const links = () => sandbox.mail.list(address).flatMap((mail) => sandbox.mail.linksIn(mail));
  await expect.poll(() => links().length, { timeout: 15_000 }).toBeGreaterThan(0);
  return links()[0] ?? "";
}

test("a customer orders, proves the address by the mail, gives up at Stripe, pays after all, and reads the receipt", async () => {
  const email = "bea@initech.example";
  await visit(browser.current, { width: 360, scheme: "light" }, async (page) => {
    await page.goto(`${gateway.url}/new`);
    await page.locator("#size").selectOption("S");
    await page.locator("#region").fill("us-east-1");
    await page.locator("#quantity").fill("2");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator("#duration_days").fill("30");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator("#name").fill("Bea Buyer");
    await page.locator("#email").fill(email);
    await page.getByRole("button", { name: "Send me the link" }).click();
    await page.getByRole("heading", { name: "Look in your mailbox" }).waitFor();

    await page.goto(await linkFor(email));
    await page.getByRole("button", { name: "Order and pay USD 84.00" }).click();
    await page.getByRole("heading", { name: /^Pay .*84\.00/ }).waitFor({ timeout: 20_000 });
    expect(page.url()).toContain(sandbox.url);
    await page.getByRole("link", { name: "Go back without paying" }).click();
    await page.getByText("You did not pay, and nothing was charged.").waitFor();
    expect(page.url()).toContain("/4?cancelled=1");

    await page.getByRole("button", { name: "Pay USD 84.00" }).click();
    await page.getByRole("button", { name: /^Pay .*84\.00$/ }).click();
    await page.getByRole("heading", { name: "This offer is confirmed" }).waitFor({ timeout: 20_000 });
    await page.getByText("Receipt number").waitFor();
    await expectNarrow(page, 360);
    await keepPicture(page, "order-paid-360-light");
  });
  expect(
    await rowsOf(
      db.superuser.pool,
      `select r.state, count(distinct c.id)::integer as checkouts, count(distinct p.id)::integer as payments, bool_and(p.counts) as counts
         from capacity.requests r join billing.checkouts c on c.request_id = r.id join billing.payments p on p.request_id = r.id
        group by r.id`,
    ),
  ).toEqual([{ state: "PROVISIONING", checkouts: 1, payments: 1, counts: true }]);
}, 90_000);
