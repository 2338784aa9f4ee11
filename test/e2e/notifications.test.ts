/** The inbox and the preferences in a real browser: without script, by keyboard and on a phone; and live with scripts. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { startBrowser } from "../helpers/browser.ts";
import { startWorkflow } from "../integration/capacity/harness.ts";
import { startTestGateway } from "../integration/http/harness.ts";
import { somebody, tell } from "../integration/notify/harness.ts";
import { everyLook, expectToFit, keepPicture, tabTo, type Looks, visit } from "./customer.ts";

const browser = startBrowser();
const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db, { dependencies: { sandbox: true, live: { pollMs: 50 } } });

/** What is done on each; the pages are also looked at in the others of its width. */
const looks: readonly Looks[] = [
  { width: 360, scheme: "dark" },
  { width: 1200, scheme: "light" },
];
const looksOf = (look: Looks): readonly Looks[] => [
  look,
  ...everyLook.filter(({ width, scheme }) => width === look.width && scheme !== look.scheme),
];

async function signIn(page: Page, member: string, to: string): Promise<void> {
  await page.goto(`${gateway.url}${to}`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.locator(`button[value="acme/${member}"]`).click();
  await page.waitForURL(`${gateway.url}${to}`);
}

async function busy(): Promise<string> {
  const member = await somebody(workflow.superuser);
  const told = (title: string, body: string) => tell(workflow.superuser, member, { title, body });
  await told("The backup is done", "All 14 databases, in 12 minutes.");
  await told(
    "A title that goes on and on ".repeat(7).trim(),
    `One line.\n\nAnother, with ${"averylongword".repeat(12)}.`,
  );
  await told("CR-2026-000042 was approved", "Cora approved it. Tess is asked next.");
  return member;
}

test.each(looks)("a member reads their inbox and marks it as read, %o", async (look) => {
  const member = await busy();
  await visit(browser.current, look, async (page) => {
    await signIn(page, member, "/inbox");
    await page.getByText("3 unread.").waitFor();
    await expectToFit(page, "inbox", looksOf(look));
    await tabTo(page, 'button[value="read"]');
    await page.keyboard.press("Enter");
    await page.getByText("2 unread.").waitFor();
    expect(await page.getByRole("status").filter({ hasText: "marked as read" }).count()).toBe(1);
    await tabTo(page, 'button[value="all"]');
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is unread.").waitFor();
    await keepPicture(page, `inbox-read-${look.width}-${look.scheme}`);
  });
});

test.each(looks)("a member chooses their notifications, by keyboard, %o", async (look) => {
  const member = await somebody(workflow.superuser);
  await visit(browser.current, look, async (page) => {
    await signIn(page, member, "/preferences");
    await expectToFit(page, "preferences", looksOf(look));
    await tabTo(page, '[name="choice.reviews.email"]');
    await page.keyboard.type("Daily");
    await tabTo(page, "#time_zone");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Mars/Olympus");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("There is no time zone of that name.").waitFor();
    await keepPicture(page, `preferences-refused-${look.width}-${look.scheme}`);
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Mars/Olympus");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByLabel("From").fill("22:00");
    await page.getByLabel("Until").fill("07:00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Saved.").waitFor();
    expect(await page.locator('[name="choice.reviews.email"]').inputValue()).toBe("digest");
    expect(await page.getByLabel("From").inputValue()).toBe("22:00");
    await keepPicture(page, `preferences-saved-${look.width}-${look.scheme}`);
  });
});

test("an open inbox announces what has arrived, and does not move what is being read", async () => {
  const member = await busy();
  const context = await browser.current.newContext({ viewport: { width: 800, height: 740 } });
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    await signIn(page, member, "/inbox");
    await tell(workflow.superuser, member, { title: "Just now" });
    await page.getByRole("status").getByText("Something came").waitFor();
    expect(await page.title()).toBe("(4) Inbox");
    await page.getByText("4 unread.").waitFor();
    expect(await page.getByText("Just now").count()).toBe(0);
    await keepPicture(page, "inbox-live");
    await page.getByRole("link", { name: "Show what is new" }).click();
    await page.getByRole("heading", { name: "Just now" }).waitFor();
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
  } finally {
    await context.close();
  }
});
