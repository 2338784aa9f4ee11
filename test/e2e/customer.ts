/** Shared by tests of the customer's pages: a browser without script whose errors fail the test, screenshots, and the keyboard. */
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, expect } from "vitest";

export interface Looks {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export const everyLook = [
  { width: 360, scheme: "light" },
  { width: 360, scheme: "dark" },
  { width: 1200, scheme: "light" },
  { width: 1200, scheme: "dark" },
] as const satisfies readonly Looks[];

const height = 740;

/** Each page has its own client address, if the server trusts a proxy, because limits are by address. */
let visitors = 0;

/** Opens a page like a customer's browser; any browser error or warning fails the test. */
export async function visit(
  browser: Browser,
  { width, scheme }: Looks,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    colorScheme: scheme,
    viewport: { width, height },
    extraHTTPHeaders: { "x-forwarded-for": `192.0.2.${(visitors += 1)}` },
  });
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    await work(page);
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
  } finally {
    await context.close();
  }
}

export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["HEADROOM_SCREENSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Tabs until the element has the focus, like a person without a mouse. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(`${selector}:focus-visible`);
  for (let presses = 0; presses < 20; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await wanted.count()) === 1) return;
  }
  throw new Error(`${selector} cannot be reached by the keyboard.`);
}

/** Nothing is wider than the window. All boxes are measured in one call of the browser. */
export async function expectNarrow(page: Page, width: number): Promise<void> {
  const rights = await page
    .locator("main *:visible")
    .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().right));
  expect(rights.length).toBeGreaterThan(0);
  expect(Math.max(...rights)).toBeLessThanOrEqual(width);
}

/** Changes how the open page is shown. */
async function showAs(page: Page, { width, scheme }: Looks): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
}

/** The page fits in each of the looks; afterwards it has the first one again. */
export async function expectToFit(page: Page, name: string, looks: readonly Looks[]): Promise<void> {
  for (const look of looks) {
    await showAs(page, look);
    await expectNarrow(page, look.width);
    await keepPicture(page, `${name}-${look.width}-${look.scheme}`);
  }
  if (looks[0] !== undefined) await showAs(page, looks[0]);
}

/** A page of another origin, in place of Stripe's. */
export async function startStripe(): Promise<{ readonly url: string }> {
  const server = createServer((_request, response) => {
    response
      .setHeader("content-type", "text/html")
      .end("<!doctype html><link rel=icon href='data:,'><p>Stripe's page</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has one
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
