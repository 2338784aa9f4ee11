// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import chromium from "@sparticuz/chromium";
import { LogLevel, WebClient } from "@slack/web-api";
import { chromium as playwright, type Browser, type Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setStage } from "./harness.ts";

let browser: Browser;

beforeAll(async () => {
  // Made for one page per process; several pages need several.
  const args = chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote");
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true });
});
afterAll(async () => {
  await browser.close();
});

/** How much of an element a visitor sees, from 0 to 1, without what other elements cover. */
function shareInSight(element: Locator): Promise<number> {
  return element.evaluate((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const points = [0.1, 0.5, 0.9].map((part) => [left + width / 2, top + height * part] as const);
    const seen = points.filter(([x, y]) => node.contains(node.ownerDocument.elementFromPoint(x, y)));
    return seen.length / points.length;
  });
}

const text = (words: string) => ({ type: "plain_text", text: words }) as const;

describe("the Slack page in a browser", () => {
  test("a message appears without a reload, its button is pressed, a modal opens, is corrected and submitted by keyboard", async () => {
    // A fixed clock: the trigger must not expire because the browser is slow.
    await using stage = await setStage({ now: () => 1_794_736_800_000 });
    const { url, slack } = stage.sandbox;
    const app = new WebClient("xoxb-sandbox", { slackApiUrl: `${url}/slack/api/`, logLevel: LogLevel.ERROR });
    const page = await browser.newPage();
    await page.goto(`${url}/slack?as=UCASEY01`);
    await app.chat.postMessage({
      channel: "C0CAPACITY",
      text: "CR-2026-000001",
      blocks: [
        { type: "header", text: text("CR-2026-000001: 4 × 32XL") },
        {
          type: "actions",
          block_id: "buttons",
          elements: [{ type: "button", action_id: "reject", value: "CR-2026-000001", text: text("Reject") }],
        },
      ],
    });
    await page.getByRole("button", { name: "Reject" }).click();
    await stage.ear.heardAtLeast(1, AbortSignal.timeout(10_000));
    const payload = JSON.parse(new URLSearchParams(stage.ear.heard[0]?.body).get("payload") ?? "") as {
      trigger_id: string;
    };
    await app.views.open({
      trigger_id: payload.trigger_id,
      view: {
        type: "modal",
        title: text("Reject the request"),
        submit: text("Send"),
        blocks: [
          {
            type: "input",
            block_id: "reason",
            label: text("Reason"),
            element: { type: "plain_text_input", action_id: "words" },
          },
        ],
      },
    });
    const dialog = page.getByRole("dialog", { name: "Reject the request" });
    const reason = dialog.getByLabel("Reason");
    await reason.waitFor();
    await reason.press("Enter");
    await dialog.getByText("Please complete this required field.").waitFor();
    await dialog.getByLabel("Reason").fill("Too large for this region");
    await dialog.getByLabel("Reason").press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(stage.ear.heard[1]?.body).toContain("Too+large+for+this+region");
    expect(slack.openViews("UCASEY01")).toEqual([]);
    await page.close();
  });

  test.each([
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ])("at $width px the current person and the input stay in sight below many messages", async (viewport) => {
    await using stage = await setStage();
    const page = await browser.newPage({ viewport });
    for (let n = 0; n < 40; n += 1) await stage.sandbox.slack.say({ user: "URILEY01", text: `Message ${n}` });
    await page.goto(`${stage.sandbox.url}/slack`);
    await page.getByText("Message 39").waitFor();
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    expect(await page.evaluate("scrollY")).toBeGreaterThan(500);
    const inSight = [
      page.getByRole("link", { name: "Overview" }),
      page.getByLabel("You are"),
      page.getByRole("link", { name: "#general" }),
      page.getByLabel("Message or command"),
    ];
    for (const each of inSight) expect(await shareInSight(each)).toBe(1);
    await page.getByLabel("You are").selectOption({ label: "Omar Haddad, Infrastructure" });
    await page.getByText("You see this as Omar Haddad").waitFor();
    await page.close();
  });

  test("the buttons of a long modal stay in sight while its fields scroll", async () => {
    await using stage = await setStage({ now: () => 1_794_736_800_000 });
    const { url, slack } = stage.sandbox;
    await slack.command({ user: "URILEY01" });
    const trigger_id = new URLSearchParams(stage.ear.heard[0]?.body).get("trigger_id") ?? "";
    const app = new WebClient("xoxb-sandbox", { slackApiUrl: `${url}/slack/api/`, logLevel: LogLevel.ERROR });
    const blocks = Array.from({ length: 15 }, (_, n) => ({
      type: "input" as const,
      block_id: `b${n}`,
      label: text(`Field ${n}`),
      element: { type: "plain_text_input" as const, action_id: "words" },
    }));
    const view = { type: "modal" as const, title: text("Long"), submit: text("Send"), close: text("Cancel"), blocks };
    await app.views.open({ trigger_id, view });
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${url}/slack?as=URILEY01`);
    const dialog = page.getByRole("dialog", { name: "Long" });
    for (const field of ["Field 0", "Field 14"]) {
      await dialog.getByLabel(field, { exact: true }).focus();
      expect(await shareInSight(dialog.getByLabel(field, { exact: true }))).toBe(1);
      expect(await shareInSight(dialog.getByRole("button", { name: "Send" }))).toBe(1);
      expect(await shareInSight(dialog.getByRole("button", { name: "Cancel" }))).toBe(1);
    }
    await page.close();
  });

  test("nothing is wider than a phone, on any page", async () => {
    await using stage = await setStage();
    const page = await browser.newPage({ viewport: { width: 360, height: 740 } });
    await stage.sandbox.slack.say({ user: "URILEY01", text: "w".repeat(300) });
    stage.sandbox.faults.add({ provider: "slack", kind: "error500", method: "chat.postMessage" });
    for (const path of ["/", "/slack", "/mail", "/linear", "/github", "/stripe"]) {
      await page.goto(`${stage.sandbox.url}${path}`);
      const excess = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
      expect([path, excess]).toEqual([path, 0]);
    }
    await page.close();
  });
});
