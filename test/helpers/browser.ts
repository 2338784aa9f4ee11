/**
 * A real Chromium for a test file; closed at its end.
 *
 * Owns: starting it. It sets few flags on purpose: those that its package recommends for small machines disable what browsers do
 * about origins, which some tests check.
 */
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

export interface TestBrowser {
  /** Once the tests run. */
  readonly current: Browser;
}

/** Call it while tests are being collected. */
export function startBrowser(): TestBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
      headless: true,
    });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
  });
  return {
    get current() {
      if (browser === undefined) throw new Error("The browser starts with the first test.");
      return browser;
    },
  };
}
