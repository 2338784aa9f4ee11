// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import chromium from "@sparticuz/chromium";
import { LogLevel, WebClient } from "@slack/web-api";
import { chromium as playwright, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setStage } from "./stage.ts";

let browser: Browser;

beforeAll(async () => {
  // Made for one page in one process; several pages need several.
  const args = chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote");
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true });
});
afterAll(async () => {
  await browser.close();
});

const text = (words: string) => ({ type: "plain_text", text: words }) as const;

describe("the Slack page in a browser", () => {
  test("a message appears by itself, its button is pressed, a modal comes, is corrected and submitted by keyboard", async () => {
    // A clock that stands: the trigger must not die because the browser is slow.
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
