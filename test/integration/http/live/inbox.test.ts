/** The pages of notifications over real HTTP, without a browser: the inbox, preferences, and live counts. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { somebody, tell } from "../../notify/harness.ts";
import { listen } from "../event-reader.ts";
import { memberToken, startTestGateway } from "../harness.ts";
import { Visitor } from "../visitor.ts";

const workflow = await startWorkflow(18);
const { db } = workflow;
const gateway = await startTestGateway(db, {
  dependencies: { sandbox: true, trustedProxies: 1, live: { pollMs: 20, heartbeatMs: 50 } },
});

const signIn = async (member: string): Promise<Visitor> => {
  const visitor = new Visitor(gateway.url);
  expect((await visitor.post("/auth/persona", { member: `acme/${member}` })).status).toBe(303);
  return visitor;
};
const people = () => somebody(workflow.superuser);
const told = (member: string, title: string, body = "A body.") => tell(workflow.superuser, member, { title, body });
const pageOf = async (visitor: Visitor, path: string): Promise<string> => (await visitor.get(path)).text();

const hear = async (member: string) =>
  listen(`${gateway.url}/events`, { authorization: `Bearer ${await memberToken(member)}` });

describe("the inbox", () => {
  test("asks an anonymous visitor to sign in, and leads back to where they wanted to go", async () => {
    const response = await new Visitor(gateway.url).get("/inbox?older_than=x");
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("/auth/sign-in?return_to=%2Finbox%3Folder_than%3Dx");
  });

  test("shows a member's notifications with their markup escaped, and marks them as read", async () => {
    const member = await people();
    const id = await told(member, "<script>alert(1)</script>", "Two\nlines & <b>more</b>");
    await told(member, "Later");
    const visitor = await signIn(member);
    const page = await pageOf(visitor, "/inbox");
    expect(page).toContain("<strong>2</strong> unread");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain("&lt;b&gt;more&lt;/b&gt;");
    expect(page.indexOf("Later")).toBeLessThan(page.indexOf("alert(1)"));
    const marked = await visitor.post("/inbox", { action: "read", id });
    expect([marked.status, marked.headers.get("location")]).toEqual([303, "/inbox?done=read"]);
    expect(await pageOf(visitor, "/inbox?done=read")).toContain("<strong>1</strong> unread");
    expect(await pageOf(visitor, "/inbox?done=read")).toContain("It is marked as read.");
    expect(await pageOf(visitor, "/inbox?done=constructor")).not.toContain("native code");
    const before = /name="before" value="([^"]+)"/.exec(await pageOf(visitor, "/inbox"))?.[1] ?? "";
    await visitor.post("/inbox", { action: "all", before });
    expect(await pageOf(visitor, "/inbox")).toContain("Nothing is unread.");
  });

  test("of one request shows its notifications, as messages link to it", async () => {
    const member = await people();
    await tell(workflow.superuser, member, { title: "Of the first", about: "CR-2026-0001" });
    await tell(workflow.superuser, member, { title: "Of the second", about: "CR-2026-0002" });
    const visitor = await signIn(member);
    const page = await pageOf(visitor, "/inbox?about=CR-2026-0001");
    expect(page).toContain("Of the first");
    expect(page).not.toContain("Of the second");
    expect(await pageOf(visitor, "/inbox?about=%3Cscript%3E")).toContain("About &lt;script&gt; alone.");
  });

  test("goes page by page, with every notification on exactly one of them", async () => {
    const member = await people();
    for (let each = 1; each <= 65; each += 1) await told(member, `Number ${each}.`);
    const visitor = await signIn(member);
    const seen: string[] = [];
    let path: string | undefined = "/inbox";
    for (let pages = 0; path !== undefined && pages < 5; pages += 1) {
      const page: string = await pageOf(visitor, path);
      seen.push(...[...page.matchAll(/Number (\d+)\./g)].map(([, number = ""]) => number));
      path = /href="(\/inbox\?older_than=[^"]+)"/.exec(page)?.[1];
    }
    expect(seen).toEqual(Array.from({ length: 65 }, (_, index) => String(65 - index)));
  });

  test.each<[string, Record<string, string>, number]>([
    ["nothing", {}, 400],
    ["an invalid id", { action: "read", id: "x" }, 400],
    ["what is nobody's", { action: "read", id: randomUUID() }, 404],
    ["an invalid time", { action: "all", before: "yesterday" }, 400],
  ])("refuses to mark %s", async (_, form, status) => {
    const visitor = await signIn(await people());
    expect((await visitor.post("/inbox", form)).status).toBe(status);
  });

  test("another site cannot mark anything as read", async () => {
    const member = await people();
    const id = await told(member, "Mine");
    const visitor = await signIn(member);
    const foreign = await visitor.post("/inbox", { action: "read", id }, { "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(403);
    expect(await pageOf(visitor, "/inbox")).toContain("<strong>1</strong> unread");
  });

  test("runs no script but the one that it names", async () => {
    const visitor = await signIn(await people());
    const policy = (await visitor.get("/inbox")).headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/script-src 'sha256-[A-Za-z0-9+/=]+'; connect-src 'self'/);
    expect((await visitor.get("/preferences")).headers.get("content-security-policy")).not.toContain("script-src");
  });
});

describe("the unread count", () => {
  test("is sent immediately to the members concerned, in each of their browsers, and to nobody else", async () => {
    const [member, other] = [await people(), await people()];
    await told(member, "Before");
    const [one, two, else_] = [await hear(member), await hear(member), await hear(other)];
    const id = await told(member, "Now");
    await Promise.all([one.untilUnread(2), two.untilUnread(2)]);
    await (await signIn(member)).post("/inbox", { action: "read", id });
    await Promise.all([one.untilUnread(1), two.untilUnread(1)]);
    await else_.beats(2);
    expect(else_.unread).toEqual([0]);
    expect(one.unread).toEqual([1, 2, 1]);
    await Promise.all([one.close(), two.close(), else_.close()]);
  });

  test("is sent even when the transaction took its time to commit", async () => {
    const member = await people();
    const reader = await hear(member);
    const client = await db.superuser.connect();
    await client.query("begin");
    await tell(client, member);
    await reader.beats(3);
    expect(reader.unread).toEqual([0]);
    await client.query("commit");
    await reader.untilUnread(1);
    await reader.close();
  });
});

describe("a member's choice", () => {
  const form = { time_zone: "Europe/Berlin", quiet_from: "22:00", quiet_until: "07:00", digest_at: "08:30" };

  test("is stored as the form says, and shown again", async () => {
    const visitor = await signIn(await people());
    const saved = await visitor.post("/preferences", { ...form, "choice.reviews.email": "digest" });
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/preferences?saved=1"]);
    const page = await pageOf(visitor, "/preferences?saved=1");
    expect(page).toContain("Saved.");
    expect(page).toContain('value="Europe/Berlin"');
    expect(page).toMatch(/id="quiet_from"[^>]*value="22:00"/);
    expect(page).toMatch(/name="choice.reviews.email">[^]*?value="digest"\s+selected/);
    expect(page).not.toContain("choice.operations");
    await visitor.post("/preferences", { ...form, quiet_from: "", quiet_until: "" });
    expect(await pageOf(visitor, "/preferences")).toMatch(/id="quiet_from"[^>]*value=""/);
  });

  test.each<[string, Record<string, string>, string]>([
    ["an unknown zone", { ...form, time_zone: "Mars/Olympus" }, "There is no time zone of that name."],
    ["half of the quiet hours", { ...form, quiet_until: "" }, "Quiet hours need a beginning and an end."],
    ["an unknown choice", { ...form, "choice.reviews.email": "pigeon" }, "is not a choice for email"],
  ])("refuses %s, stores nothing of it, and shows it again", async (_, entered, words) => {
    const visitor = await signIn(await people());
    const response = await visitor.post("/preferences", entered);
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toContain(words);
    expect(page).toContain(`value="${entered["time_zone"]}"`);
    expect(await pageOf(visitor, "/preferences")).toContain('value="UTC"');
  });

  test("is not offered for critical notifications, even when the form is made up", async () => {
    const member = await people();
    const visitor = await signIn(member);
    expect((await visitor.post("/preferences", { "choice.operations.email": "off" })).status).toBe(403);
    expect(
      await rowsOf(workflow.superuser, "select from notify.preferences where whose = 'member:' || $1", [member]),
    ).toEqual([]);
  });
});
