/** The self-service wizard in a real browser that runs no script, with only the keyboard, at the width of a phone. */
import { expect, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { answerCheckout, startWizard } from "../integration/billing/wizard.ts";
import { oneOf } from "../integration/capacity/harness.ts";
import { startTestGateway } from "../integration/http/harness.ts";
import { everyLook, expectNarrow, expectToFit, startStripe, tabTo, visit } from "./customer.ts";

const browser = startBrowser();
const { workflow, proofOf } = await startWizard();
const stripe = await startStripe();
const gateway = await startTestGateway(workflow.db, {
  dependencies: { payments: { checkoutOrigins: [stripe.url] }, trustedProxies: 1 },
});

const tokenIn = (url: string): string => new URL(url).pathname.split("/")[3] ?? "";

/** The order, as soon as there is one. */
const requestOf = (email: string) =>
  oneOf<{ id: string; state: string }>(
    workflow.superuser,
    "select id, state from public.capacity_requests where customer_ref ->> 'email' = $1",
    [email],
  );

test("a customer orders on a phone, by keyboard, up to Stripe's page, gives up there, and comes back to the last step", async () => {
  await visit(browser.current, { width: 360, scheme: "light" }, async (page) => {
    await page.goto(`${gateway.url}/new/acme`);
    await page.getByRole("heading", { name: "What do you need?" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await tabTo(page, "#size");
    await page.keyboard.type("S");
    await tabTo(page, "#region");
    await page.keyboard.type("us");
    await tabTo(page, "#quantity");
    await page.keyboard.type("none");
    await page.keyboard.press("Enter");

    // The invalid field has the focus, and its error is next to it.
    await page.getByRole("alert").waitFor();
    await page.locator("#quantity:focus").waitFor();
    expect(await page.getByRole("textbox", { name: "How many?" }).getAttribute("aria-describedby")).toContain("error");
    expect(await page.locator("#size").inputValue()).toBe("S");
    await page.locator("#quantity").fill("2");
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "When, and for how long?" }).waitFor();
    await page.goBack();
    await page.reload();
    expect(await page.locator("#quantity").inputValue()).toBe("2");
    await page.goForward();
    await tabTo(page, "#duration_days");
    await page.keyboard.type("30");
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Who are you?" }).waitFor();
    await page.getByText("USD 240.00").waitFor();
    await tabTo(page, "#name");
    await page.keyboard.type("Bea <b>Buyer</b>");
    await tabTo(page, "#email");
    await page.keyboard.type("bea@initech.example");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Look in your mailbox" }).waitFor();

    await page.goto(`${gateway.url}/new/acme/${await proofOf(tokenIn(page.url()))}/4`);
    await page.getByText("Bea <b>Buyer</b>").waitFor();
    await expectNarrow(page, 360);
    const sent = page.waitForURL(`${stripe.url}/pay`);
    await tabTo(page, "button");
    await page.keyboard.press("Enter");
    await expect.poll(() => requestOf("bea@initech.example").catch(() => null), { timeout: 5_000 }).not.toBeNull();
    const { id } = await requestOf("bea@initech.example");
    const checkout = await answerCheckout(workflow, id, `${stripe.url}/pay`);
    await sent;
    await page.getByText("Stripe's page").waitFor();

    // Back by the link that Stripe shows for giving up.
    await page.goto(`${gateway.url}/paid/${checkout}?cancelled=1`);
    await page.getByText("You did not pay, and nothing was charged.").waitFor();
    expect(page.url()).toContain("/4?cancelled=1");
    await page.getByRole("button", { name: "Pay USD 240.00" }).click();
    await page.waitForURL(`${stripe.url}/pay`);
  });
});

test("every page of the wizard fits a phone and a desk, in light and in dark", { timeout: 90_000 }, async () => {
  await visit(browser.current, everyLook[0], async (page) => {
    const keep = (name: string): Promise<void> => expectToFit(page, `wizard-${name}`, everyLook);
    const next = async (heading: string): Promise<void> => {
      await page.getByRole("button").first().click();
      await page.getByRole("heading", { name: heading }).waitFor();
    };
    await page.goto(`${gateway.url}/new/acme`);
    await keep("1");
    await next("What do you need?");
    await page.getByRole("alert").waitFor();
    await keep("1-wrong");
    await page.locator("#size").selectOption("32XL");
    await page.locator("#region").selectOption("us-east-1");
    await page.locator("#quantity").fill("3");
    await next("When, and for how long?");
    await keep("2");
    await next("Who are you?");
    await keep("3");
    await page.locator("#name").fill("Beatrice Theodora Buyer-Featherstonehaugh");
    await page.locator("#organisation").fill("Initech International Infrastructure Incorporated");
    await page.locator("#email").fill("beatrice@initech.example");
    await next("Look in your mailbox");
    await keep("4-mailed");
    const begun = page.url();
    await page.goto(`${gateway.url}/new/acme/${await proofOf(tokenIn(begun))}/4`);
    await keep("4-review");
    await next("Your order was sent");
    await keep("4-sent");
    await page.goto(begun);
    await page.getByText("This order continues with the link in its mail").waitFor();
    await keep("4-elsewhere");
    await page.goto(`${gateway.url}/new/globex`);
    await keep("closed");
  });
});
