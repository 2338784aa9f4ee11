/** The page of all messages, rendered by the real database, in a real browser: wide and narrow, light and dark. */
import { expect, test } from "vitest";
import { readMessages } from "../../../src/cli/commands/up/product.ts";
import { startBrowser } from "../../helpers/browser.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { rowsOf } from "../outbox/queries.ts";
import { setStage } from "./harness.ts";

const { superuser } = await createTestDatabase({ version: 18 });
const browser = startBrowser();
const messages = async () => readMessages(await superuser.connect());

test.each([
  ["a desktop", 1200, "light"],
  ["a desktop", 1200, "dark"],
  ["a phone", 360, "light"],
  ["a phone", 360, "dark"],
] as const)(
  "on %s with width %i, %s, every message is shown for every channel that it has",
  async (_what, width, scheme) => {
    const all = await messages();
    await using stage = await setStage({ messages: () => Promise.resolve(all) });
    const context = await browser.current.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (said) => problems.push(said.text()));
    await page.goto(`${stage.sandbox.url}/messages`);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    const names = await rowsOf<{ name: string }>(superuser.pool, "select name from notify.own_templates");
    expect(await page.locator("section").count()).toBe(names.length);
    expect(await page.getByRole("article", { name: /^As a mail, / }).count()).toBe(names.length);
    expect(await page.getByRole("article", { name: /^In Slack, / }).count()).toBe(
      all.filter(({ audience }) => audience === "member").length,
    );
    const letter = page.frameLocator('iframe[title="offer as a mail, with a price"]');
    await page.locator("#offer iframe").first().scrollIntoViewIfNeeded();
    await letter
      .getByRole("heading", { name: "Please review and pay: 4 × 32XL in us-east-1 (CR-2026-000042)" })
      .waitFor();
    expect(problems).toEqual([]);
    await context.close();
  },
);

test("a workspace's texts are shown and marked, and stay plain text", async () => {
  await rowsOf(
    superuser.pool,
    "select public.set_notification_template('asked', '<img src=x> {{request}}', '<script>x</script> {{review}} <!channel>', 'default')",
  );
  await using stage = await setStage({ messages });
  const markup = await (await fetch(`${stage.sandbox.url}/messages`)).text();
  expect(markup).toContain("in other words");
  expect(markup).toContain("&lt;script&gt;x&lt;/script&gt; commercial &lt;!channel&gt;");
  expect(markup).not.toMatch(/<img|<script>/);
  const letter = await fetch(`${stage.sandbox.url}/messages/asked/0/html`);
  expect(letter.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await letter.text()).toContain("&lt;img src=x&gt; CR-2026-000042");
  for (const path of ["/messages/none/0/html", "/messages/asked/x/html", "/messages/asked/99/html"])
    expect(await (await fetch(`${stage.sandbox.url}${path}`)).text()).toBe("There is no such message.");
});

test("a sandbox without Headroom says so", async () => {
  await using stage = await setStage();
  expect(await (await fetch(`${stage.sandbox.url}/messages`)).text()).toContain(
    "Headroom is not connected, so there is nothing to show.",
  );
});
