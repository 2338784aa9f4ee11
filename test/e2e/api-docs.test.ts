/** The page that describes the API, in a real browser: it loads nothing from elsewhere, fits a phone, and works in light and in dark. */
import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { createTestDatabase } from "../helpers/database.ts";
import { startTestGateway } from "../integration/http/harness.ts";

const browser = startBrowser();
const db = await createTestDatabase();
const gateway = await startTestGateway(db);

test("the API's page fits a phone, in light and in dark, and loads nothing else", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.current.newContext({ colorScheme, viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    const requested: string[] = [];
    page.on("request", (request) => void requested.push(request.url()));
    await page.goto(`${gateway.url}/docs`);
    const folder = process.env["HEADROOM_SCREENSHOTS"];
    if (folder !== undefined) {
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: `${folder}/api-${colorScheme}.png` });
    }
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(360);
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith("data:"))).toEqual([`${gateway.url}/docs`]);
    await page.getByRole("navigation").getByRole("link", { name: "create_capacity_request" }).click();
    const heading = page.getByRole("heading", { name: "create_capacity_request", exact: true });
    await heading.waitFor();
    await context.close();
  }
});
