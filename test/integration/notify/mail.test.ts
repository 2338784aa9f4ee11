/** Mails to people: one template, one thread, an unsubscribe link that can do nothing else, and addresses that a mail server refuses. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codeOf, oneOf, rowsOf } from "../capacity/harness.ts";
import { anonymous, overHttp } from "../capacity/gateway.ts";
import { withSecretKey } from "../../../src/db/secrets/secret-key.ts";
import { testSecretKey } from "../http/harness.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("smtp");
const db = stage.workflow.superuser;
const inbox = (address = "rita@acme.example") => stage.sandbox.mail.list(address);

/** The token of the link in the newest mail. */
function tokenIn(address?: string): string {
  const [mail] = inbox(address);
  return /\/unsubscribe\/([\w-]{64})/.exec(mail?.text ?? "")?.[1] ?? "";
}

/** The outbox's row of the mail about it. */
async function rowOf(told: string): Promise<string> {
  const row = `select d.outbox_id as id from notify.deliveries d join notify.parts p on p.delivery_id = d.id
                where p.notification_id = $1`;
  return (await oneOf<{ id: string }>(db, row, [told])).id;
}

/** By a visitor without any credential but the link. */
const byLink = (name: "describe_unsubscribe" | "unsubscribe" | "resubscribe", token: string): Promise<unknown> =>
  overHttp(stage.workflow.db, anonymous, async (client) => {
    const keyed = "select set_config('headroom.secret_key', $1, true)";
    await client.query(keyed, [testSecretKey]);
    const { rows } = await client.query<{ told: unknown }>(`select public.${name}($1) as told`, [token]);
    return rows[0]?.told;
  });

describe("a mail about a notification", () => {
  test("has the title as its heading, the text, a real button, and how to stop it", async () => {
    const id = await stage.tell({
      title: "Your request was approved",
      body: "Two lines\nof text.",
      url: "https://capacity.example/r/1?a=1&b=2",
    });
    await stage.reaches(id, "sent");
    const [mail] = inbox();
    expect(mail?.subject).toBe("Your request was approved");
    expect(mail?.html).toContain("Your request was approved</h1>");
    expect(mail?.html).toContain("Two lines<br>of text.");
    expect(mail?.html).toContain('href="https://capacity.example/r/1?a=1&amp;b=2"');
    expect(mail?.text).toContain("View: https://capacity.example/r/1?a=1&b=2");
    const stop = `https://capacity.example/eu/unsubscribe/${tokenIn()}`;
    expect(mail?.text).toContain(`Stop these mails: ${stop}`);
    expect(mail?.text).toContain("Preferences: https://capacity.example/eu/preferences");
    expect(mail?.html).toContain('href="https://capacity.example/eu/preferences"');
    expect(mail?.headers).toMatchObject({
      "list-unsubscribe": `<${stop}>`,
      "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    });
    expect(mail?.headers).not.toHaveProperty("in-reply-to");
  });

  test("about one thing is in one thread, and several things in one mail have a heading each", async () => {
    const about = randomUUID();
    const told = [
      await stage.tell({ about, title: "Approved", body: "By Cora." }),
      await stage.tell({ about, title: "Provisioned", body: "By Tess.", url: "https://capacity.example/2" }),
    ];
    await stage.release();
    await stage.reaches(told[0] ?? "", "sent");
    const [both] = inbox();
    expect(both?.subject).toBe("Approved (and 1 more)");
    expect(both?.html?.match(/<h2[^>]*>([^<]*)/g)?.map((each) => each.replace(/.*>/, ""))).toEqual([
      "Approved",
      "Provisioned",
    ]);
    const last = await stage.tell({ about, title: "Running" });
    await stage.release();
    await stage.reaches(last, "sent");
    expect(inbox()[0]?.headers["references"]).toBe(both?.headers["references"]);
    expect(both?.headers["references"]).toMatch(/^<[0-9a-f]{32}@headroom\.example>$/);
  });

  test("that is critical cannot be stopped", async () => {
    const id = await stage.tell({ category: "operations", title: "A job failed" });
    await stage.reaches(id, "sent");
    const [mail] = inbox();
    expect(mail?.headers).not.toHaveProperty("list-unsubscribe");
    expect(mail?.text).not.toContain("unsubscribe");
    expect(mail?.text).toContain("Preferences: https://");
  });

  test.each<[string, string]>([
    ["markup", '<script>alert(1)</script><img src=x onerror="alert(1)">'],
    ["an end of the document", "</title></head><body onload=alert(1)>"],
    ["a placeholder that the sender fills in", "{{confirmation_link}} {{unsubscribe_link}} {{{draft_link}}"],
    ["quotes and ampersands", `"'&amp;&#60;b&#62;`],
    ["marks that change the writing direction", "\u202Egnp.exe \u2066x\u2069"],
  ])("renders %s harmless, wherever it is", async (_what, text) => {
    await rowsOf(db, "update directory.members set display_name = $1 where workspace_id = 'acme' and id = 'tim'", [
      text,
    ]);
    const id = await stage.tell({ user: "tim", title: text, body: text });
    await stage.reaches(id, "sent");
    const [mail] = inbox("tim@acme.example");
    expect(mail?.html).not.toMatch(/<script|<img|<body onload|\{\{\w/);
    expect(mail?.html?.match(/<title>/g)).toHaveLength(1);
    expect(mail?.text).not.toMatch(/\{\{\w/);
    // Ours, and none that the text contained.
    expect(mail?.html?.match(/href="[^"?]*\//g)).toEqual([
      'href="https://capacity.example/eu/unsubscribe/',
      'href="https://capacity.example/eu/',
    ]);
    expect(mail?.html).not.toMatch(/[\u202e\u2066\u2069]/);
    expect(mail?.to).toEqual(["tim@acme.example"]);
  });

  test("loads nothing from anywhere and declares its language and both colour schemes", async () => {
    const { html } = (await stage.payloadOf(await stage.tell({}))) as { html: string };
    expect(html).not.toMatch(/<(?:img|link|iframe|script)|url\(|@import/);
    expect(html).toMatch(/^<!DOCTYPE html><html lang="en"/);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
  });
});

describe("the unsubscribe link", () => {
  test("stops that kind of mail for that person in that workspace, and nothing else", async () => {
    await stage.reaches(await stage.tell({ user: "dora", category: "requests" }), "sent");
    const token = tokenIn("dora@acme.example");
    const held = await stage.tell({ user: "dora", category: "requests", about: "cr-9" });
    expect(await byLink("describe_unsubscribe", token)).toEqual({
      workspace: "Acme",
      kinds: ["Your requests"],
      stopped: false,
      member: true,
    });
    expect(await stage.stageOf(held)).toBe("held");
    expect(await byLink("unsubscribe", token)).toMatchObject({ stopped: true });
    expect(await byLink("unsubscribe", token)).toMatchObject({ stopped: true });
    expect(await stage.stageOf(held)).toBe("preference");
    expect(await stage.stageOf(await stage.tell({ user: "dora", category: "requests" }))).toBe("preference");
    for (const other of [
      { user: "dora", category: "general" },
      { user: "cora", category: "requests" },
      { user: "dora", category: "operations" },
    ]) {
      expect(await stage.stageOf(await stage.tell(other))).not.toBe("preference");
    }
    const rows = "select whose, category, channel, choice from notify.preferences where whose like '%dora%'";
    expect(await rowsOf(db, rows)).toEqual([
      { whose: "member:dora", category: "requests", channel: "email", choice: "off" },
    ]);
  });

  test("works for a customer, who is known by a keyed hash of the address alone", async () => {
    const address = "buyer@customer.example";
    const who = { kind: "customer", user: "cr-1", address, category: "progress" } as const;
    await stage.reaches(await stage.tell(who), "sent");
    expect(await byLink("unsubscribe", tokenIn(address))).toMatchObject({ kinds: ["Progress"], stopped: true });
    expect(await stage.stageOf(await stage.tell({ ...who, user: "cr-2" }))).toBe("preference");
    expect(await stage.stageOf(await stage.tell({ ...who, user: "cr-2", category: "offers" }))).not.toBe("preference");
    expect(JSON.stringify(await rowsOf(db, "select * from notify.preferences"))).not.toContain("buyer");
    // A person without preferences resumes them by the same link.
    expect(await byLink("resubscribe", tokenIn(address))).toMatchObject({ stopped: false, member: false });
    expect(await stage.stageOf(await stage.tell({ ...who, user: "cr-2" }))).not.toBe("preference");
  });

  test("is refused in the same words, whatever is wrong with it", async () => {
    await stage.reaches(await stage.tell({}), "sent");
    const good = tokenIn();
    const critical = await stage.tell({ category: "operations" });
    const flipped = `${good.slice(0, -1)}${good.endsWith("A") ? "B" : "A"}`;
    const ofAnother = Buffer.concat([
      Buffer.from(critical.replaceAll("-", ""), "hex"),
      Buffer.from(good, "base64url").subarray(16),
    ]).toString("base64url");
    const told = new Set<string>();
    for (const bad of ["", "x", flipped, ofAnother, good.toLowerCase(), `${good}A`, "'".repeat(64), "A".repeat(64)]) {
      for (const name of ["describe_unsubscribe", "unsubscribe"] as const) {
        const error = await byLink(name, bad).catch((refused: unknown) => refused);
        told.add((error as Error).message);
      }
    }
    expect([...told]).toEqual(["This link is not valid."]);
  });

  test("is made only for its own mail, and is stored nowhere", async () => {
    const id = await stage.tell({});
    await stage.reaches(id, "sent");
    const token = tokenIn();
    const { rows } = await stage.workflow.db.superuser.pool.query<{ found: boolean }>(
      `select strpos(string_agg(m.payload::text, ''), $1) > 0 as found from outbox.payloads m`,
      [token],
    );
    expect(rows[0]?.found).toBe(false);
    const executor = await stage.workflow.db.as("headroom_executor").connect();
    const make = (notification: string, row: string): Promise<unknown> =>
      withSecretKey(executor, testSecretKey, () =>
        executor.query("select notify.unsubscribe_token($1, $2)", [notification, row]),
      );
    const other = await stage.tell({ user: "cora" });
    expect(await codeOf(make(id, await rowOf(other)))).toBe("not_found");
    expect(await codeOf(make(id, randomUUID()))).toBe("not_found");
    await make(id, await rowOf(id));
    await executor.end();
  });
});

describe("an address that the mail server refuses", () => {
  test("is suppressed when the message is given up, and the sender's side is told", async () => {
    await rowsOf(db, "update directory.members set email = 'rob@bounces.example' where id = 'rob'");
    const id = await stage.tell({ user: "rob" });
    await stage.reaches(id, "given_up");
    await rowsOf(db, "select * from notify.release()");
    expect(await stage.stageOf(id)).toBe("bounced");
    expect(await stage.stageOf(await stage.tell({ user: "rob" }))).toBe("suppressed");
    expect(await stage.toldBecause("mail-failed")).toEqual([
      { recipient: "ada", title: "Mail to Rob does not arrive" },
      { recipient: "rob", title: "Mails to you do not arrive" },
    ]);
    expect(await rowsOf(db, "select reason from notify.suppressions")).toEqual([{ reason: "rejected" }]);
    // The reports to the others go by Slack, which does not know them: those are outcomes of their own.
    expect(await rowsOf(db, "select from notify.endings where code = 'recipient_refused'")).toEqual([]);
  });

  test("gets nothing of what waits to be sent either", async () => {
    stage.sandbox.faults.add({ provider: "smtp", kind: "rateLimit", channel: "vera@acme.example", times: 1 });
    const id = await stage.tell({ user: "vera", channels: ["in-app", "email"] });
    const wait = `select from outbox.pending_unordered u join notify.deliveries d on d.outbox_id = u.outbox_id
                   where d.recipient = 'vera' and u.tries = 1`;
    await expect.poll(async () => (await rowsOf(db, wait)).length, { timeout: 15_000 }).toBe(1);
    const suppress =
      "select notify.suppress('acme', notify.address_mark('acme', 'Vera@acme.example'), 'bounced', null) as news";
    expect(await oneOf(db, suppress)).toEqual({ news: true });
    expect(await oneOf(db, suppress)).toEqual({ news: false });
    expect(await stage.stageOf(id)).toBe("suppressed");
    expect(await stage.stageOf(id, "in-app")).toBe("shown");
    expect(await rowsOf(db, wait)).toEqual([]);
    await rowsOf(db, "select notify.lift_suppression('acme', 'vera@acme.example', 'ada')");
  });

  test("is not suppressed when the server refuses the mail itself; sent again, it is no longer a dead letter", async () => {
    stage.sandbox.faults.add({ provider: "smtp", kind: "refuse", channel: "vera@acme.example", times: 1 });
    const id = await stage.tell({ user: "vera" });
    await stage.reaches(id, "given_up");
    await rowsOf(db, "select * from notify.release()");
    expect(await stage.stageOf(id)).toBe("given_up");
    expect(await stage.stageOf(await stage.tell({ user: "vera" }))).not.toBe("suppressed");

    const dead = await rowOf(id);
    const letters = "select from outbox.dead_letters where outbox_id = $1";
    expect(await rowsOf(db, letters, [dead])).toHaveLength(1);
    await rowsOf(db, "select notify.resend($1, null, 'ada')", [id]);
    await stage.reaches(id, "sent");
    expect(await rowsOf(db, letters, [dead])).toEqual([]);
  });
});
