/** The unsubscribe page over real HTTP: what a browser without scripts shows, what mail programs post, and what scanners do not change. */
import { describe, expect, test } from "vitest";
import { rowsOf } from "../capacity/harness.ts";
import { startBrowser } from "../../helpers/browser.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("smtp");
const db = stage.workflow.superuser;
const browser = startBrowser();

async function tokenFor(user: string): Promise<string> {
  await stage.reaches(await stage.tell({ user }), "sent");
  const [mail] = stage.sandbox.mail.list(`${user}@acme.example`);
  return /\/unsubscribe\/([\w-]{64})/.exec(mail?.text ?? "")?.[1] ?? "";
}
const linkTo = (token: string): string => `${stage.gateway.url}/unsubscribe/${token}`;
const choices = (user: string): Promise<unknown[]> =>
  rowsOf(db, "select category, channel, choice from notify.preferences where whose = $1", [`member:${user}`]);
const off = [{ category: "general", channel: "email", choice: "off" }];

describe("the unsubscribe page", () => {
  test("shows what it stops and changes nothing, however often it is opened", async () => {
    const token = await tokenFor("rita");
    for (const method of ["GET", "HEAD", "GET"]) {
      const answer = await fetch(linkTo(token), { method });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      if (method === "GET") expect(await answer.text()).toContain("Other messages");
    }
    expect(await choices("rita")).toEqual([]);
  });

  test("stops the mails by its form, and resumes them, in a browser without scripts", async () => {
    const context = await browser.current.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(linkTo(await tokenFor("cora")));
    await page.getByRole("button", { name: "Stop these mails" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("These mails are stopped");
    expect(await choices("cora")).toEqual(off);
    await page.reload();
    expect(await page.getByRole("status").textContent()).toContain("Acme no longer mails you about");
    expect(await page.getByRole("link", { name: "your preferences" }).getAttribute("href")).toBe("/preferences");
    await page.getByRole("button", { name: "Get these mails again" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("You get these mails again");
    expect(await choices("cora")).toEqual([]);
    await context.close();
  });

  test("accepts the one click of a mail program, from anywhere and without a redirect", async () => {
    const answer = await fetch(linkTo(await tokenFor("carl")), {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        origin: "https://mail.example",
        "sec-fetch-site": "cross-site",
      },
      body: "List-Unsubscribe=One-Click",
    });
    expect(answer.status).toBe(200);
    expect(await choices("carl")).toEqual(off);
  });

  test("answers links that are made up, cut off or odd in one way, by GET and POST", async () => {
    const good = await tokenFor("vera");
    const pages = new Set<string>();
    const odd = [good.slice(0, 63), `${good}x`, "A".repeat(64), "%00", "..%2f..%2fetc", "<script>", good.toUpperCase()];
    for (const token of odd) {
      for (const method of ["GET", "POST"]) {
        const answer = await fetch(linkTo(encodeURIComponent(token)), { method });
        expect([token, method, answer.status]).toEqual([token, method, 404]);
        pages.add(await answer.text());
      }
    }
    expect(pages.size).toBe(1);
    expect(await choices("vera")).toEqual([]);
  });

  test("no longer exists for an erased customer, whose address nobody knows", async () => {
    const told = { kind: "customer", category: "progress", address: "erased@customer.example" } as const;
    await stage.reaches(await stage.tell({ ...told, user: "CR-ERASED", about: "CR-ERASED" }), "held");
    await stage.release();
    await expect.poll(() => stage.sandbox.mail.list(told.address), { timeout: 10_000 }).toHaveLength(1);
    const token = /\/unsubscribe\/([\w-]{64})/.exec(stage.sandbox.mail.list(told.address)[0]?.text ?? "")?.[1] ?? "";
    expect((await fetch(linkTo(token))).status).toBe(200);
    await rowsOf(db, "select notify.erase_about('CR-ERASED', clock_timestamp(), '{}')");
    for (const method of ["GET", "POST"]) expect((await fetch(linkTo(token), { method })).status).toBe(404);
  });

  test("no longer exists for a removed member, about whom nothing is stored again", async () => {
    await rowsOf(db, "select directory.put_member('acme', 'left', $1)", [{ email: "left@acme.example" }]);
    const token = await tokenFor("left");
    await rowsOf(db, "select directory.put_member('acme', 'left', '{\"active\": false}')");
    for (const method of ["GET", "POST"]) expect((await fetch(linkTo(token), { method })).status).toBe(404);
    // Nor does it belong to the next person with the id.
    await rowsOf(db, "select directory.put_member('acme', 'left', $1)", [{ email: "left@acme.example", active: true }]);
    for (const method of ["GET", "POST"]) expect((await fetch(linkTo(token), { method })).status).toBe(404);
    expect(await choices("left")).toEqual([]);
  });

  test("does not put its address into the log", async () => {
    const token = await tokenFor("tim");
    await fetch(linkTo(token));
    expect(JSON.stringify(stage.gateway.log)).not.toContain(token.slice(0, 20));
  });
});
