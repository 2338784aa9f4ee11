/** What a mail has besides its texts: its thread, its unsubscribe link, and what a server says about the recipient. */
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import PostalMime from "postal-mime";
import { createEmailRail } from "../../../../src/rails/email/rail.ts";
import type { EmailRail, EmailRailOptions, MakeToken } from "../../../../src/rails/email/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer } from "../scripted-server.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { from, makeToken, startMailServer } from "./smtp-harness.ts";
import type { MailServer } from "./smtp-harness.ts";

const id = randomUUID();
const stoppable = {
  to: "rita@acme.example",
  subject: "News",
  text: "Stop: {{unsubscribe_link}}",
  html: '<a href="{{unsubscribe_link}}">Stop</a>',
  unsubscribe: { id, base: "https://capacity.example" },
  thread: { about: "cr-1", workspace: "acme" },
};
const link = "https://capacity.example/unsubscribe/stop-token";

let postal: ScriptedServer;
let mailServer: MailServer;
const rails: EmailRail[] = [];
const asked: string[] = [];
const failing: MakeToken = () => Promise.reject(new Error("no database"));
const stopToken: MakeToken = (given) => {
  asked.push(given);
  return Promise.resolve("stop-token");
};

function railFor(transport: EmailRailOptions["transport"], more: Partial<EmailRailOptions> = {}): EmailRail {
  const rail = createEmailRail({ from, transport, confirmationToken: makeToken, unsubscribeToken: stopToken, ...more });
  rails.push(rail);
  return rail;
}
const bySmtp = (more: Partial<EmailRailOptions> = {}): EmailRail =>
  railFor({ kind: "smtp", url: mailServer.url }, more);

beforeEach(async () => {
  postal = await startScriptedServer();
  mailServer = await startMailServer();
  asked.length = 0;
});

afterEach(async () => {
  for (const rail of rails.splice(0)) rail.close();
  await postal.close();
  await mailServer.close();
});

async function headersOf(raw: string): Promise<Record<string, string>> {
  const { headers } = await PostalMime.parse(raw);
  return Object.fromEntries(headers.map(({ key, value }) => [key, value]));
}

describe("a mail with an unsubscribe link", () => {
  test("by SMTP has the link in its headers and its texts, with a token that is made for it", async () => {
    expect(await bySmtp().send(messageOf(stoppable), notAborted)).toMatchObject({ kind: "delivered" });
    const [mail] = mailServer.mails;
    const headers = await headersOf(mail?.raw ?? "");
    expect(headers).toMatchObject({
      "list-unsubscribe": `<${link}>`,
      "list-unsubscribe-post": "List-Unsubscribe=One-Click",
      references: expect.stringMatching(/^<[0-9a-f]{32}@headroom\.example>$/),
    });
    expect(headers["in-reply-to"]).toBe(headers["references"]);
    expect(mail?.text).toContain(link);
    expect(mail?.html).toContain(`href="${link}"`);
    expect(asked).toEqual([id]);
  });

  test("by Postal has the same, and the row's id as its tag", async () => {
    postal.script.push({ body: { status: "success", data: { message_id: "abc@postal" } } });
    const message = messageOf(stoppable);
    await railFor({ kind: "postal", url: postal.url, key: "postal-key" }).send(message, notAborted);
    expect(JSON.parse(postal.requests[0]?.body ?? "")).toMatchObject({
      tag: message.outboxId,
      headers: {
        "List-Unsubscribe": `<${link}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        References: expect.stringMatching(/^<[0-9a-f]{32}@headroom\.example>$/),
      },
    });
  });

  test("is not sent without the link", async () => {
    const outcome = await bySmtp({ unsubscribeToken: failing }).send(messageOf(stoppable), notAborted);
    expect(outcome).toMatchObject({ kind: "retry", code: "token_unavailable" });
    expect(mailServer.handedOver).toEqual([]);
  });

  test.each<[string, object]>([
    ["its subject", { thread: { about: "x>\r\nBcc: victim@example.com", workspace: "acme" } }],
    ["a workspace", { thread: { about: "cr-1", workspace: "a\r\nBcc: victim@example.com" } }],
    ["an address", { unsubscribe: { id, base: "https://capacity.example/\r\nBcc:victim@example.com" } }],
  ])("adds no header by %s", async (_what, change) => {
    const payload = { ...stoppable, ...change };
    const message = messageOf(payload);
    const rail = bySmtp();
    if (rail.validate?.(message).ok === true) await rail.send(message, notAborted);
    for (const { raw } of mailServer.mails) expect(Object.keys(await headersOf(raw))).not.toContain("bcc");
  });
});

test("an unknown mailbox is distinguished from a mail that the server rejects", async () => {
  const plain = { to: "rita@acme.example", subject: "Ready", text: "Ready." };
  mailServer.next("refuse");
  expect(await bySmtp().send(messageOf(plain), notAborted)).toEqual({
    kind: "rejected",
    code: "recipient_refused",
    reason: "The mail server knows no such mailbox, or it was closed. (550 5.1.1)",
  });
  mailServer.next("refuse_echoing");
  expect(await bySmtp().send(messageOf(plain), notAborted)).toMatchObject({ kind: "rejected", code: "smtp_5xx" });
});
