/** The customer's page in a real browser that runs no script, with only the keyboard, at the width of a phone. */
import { mkdir } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { startTestGateway } from "../integration/http/harness.ts";
import { startOffers } from "../integration/http/offers.ts";

const browser = startBrowser();
const { workflow, offer } = await startOffers();
const gateway = await startTestGateway(workflow.db);

/** Opens a page like a customer's phone; any browser error or warning fails the test. */
async function openPage(path: string, colorScheme: "light" | "dark", work: (page: Page) => Promise<void>) {
  const context = await browser.current.newContext({
    javaScriptEnabled: false,
    colorScheme,
    viewport: { width: 360, height: 740 },
  });
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    const requested: string[] = [];
    page.on("request", (request) => void requested.push(request.url()));
    await page.goto(`${gateway.url}${path}`);
    await work(page);
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(gateway.url) && !url.startsWith("data:"))).toEqual([]);
  } finally {
    await context.close();
  }
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["HEADROOM_SCREENSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Tabs until the element has the focus, like a person without a mouse. */
async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(`${selector}:focus-visible`);
  for (let presses = 0; presses < 10; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await wanted.count()) === 1) return;
  }
  throw new Error(`${selector} cannot be reached by the keyboard.`);
}

test("a customer confirms with two keys, and a reload shows the answer without asking again", async () => {
  const { id, token } = await offer();
  await openPage(`/confirm/${token}`, "light", async (page) => {
    await page.getByRole("heading", { name: "Please confirm this offer" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await keepPicture(page, "confirm-open");
    await tabTo(page, "button");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "This offer is confirmed" }).waitFor();
    await keepPicture(page, "confirm-done");
    await page.reload();
    await page.getByRole("status").getByText("It was confirmed through this link").waitFor();
  });
  expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
});

test("a customer declines with a reason, by keyboard, in the dark", async () => {
  const { id, token } = await offer();
  await openPage(`/confirm/${token}`, "dark", async (page) => {
    await tabTo(page, "summary");
    await page.keyboard.press("Enter");
    await tabTo(page, "textarea");
    await page.keyboard.type("Not this year, 1 + 1 < 3 & so on");
    await keepPicture(page, "confirm-decline");
    await tabTo(page, "button.plain");
    await page.keyboard.press("Space");
    await page.getByRole("heading", { name: "This offer is declined" }).waitFor();
  });
  expect(await workflow.row(id)).toMatchObject({ state: "CANCELLED" });
});

test("nothing is wider than a phone, and every control has a name", async () => {
  const { token } = await offer({ size: "W".repeat(32), region: "w".repeat(32) });
  await openPage(`/confirm/${token}`, "light", async (page) => {
    await page.locator("summary").click();
    for (const box of await page.locator("main *").all()) {
      const place = await box.boundingBox();
      if (place !== null) expect(place.x + place.width).toBeLessThanOrEqual(360);
    }
    await page.getByRole("textbox", { name: "Why? (optional)" }).waitFor();
    for (const name of ["Confirm the offer", "Decline the offer"]) await page.getByRole("button", { name }).waitFor();
  });
});

test("an invalid link is explained", async () => {
  await openPage("/confirm/cut-off-by-a-mail-prog", "dark", async (page) => {
    await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
    await keepPicture(page, "confirm-unknown");
  });
});
