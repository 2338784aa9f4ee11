import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HeadroomError } from "../../../../src/db/errors.ts";
import { createEmailRail } from "../../../../src/rails/email/rail.ts";
import type { EmailRail, EmailRailOptions } from "../../../../src/rails/email/rail.ts";
import { createSmtpTransport } from "../../../../src/rails/email/smtp.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer } from "../scripted-server.ts";
import type { ScriptedAnswer, ScriptedServer } from "../scripted-server.ts";
import { confirmationToken, from, letter, makeToken, startMailServer } from "./smtp-harness.ts";
import type { MailServer } from "./smtp-harness.ts";

const key = "postal-key-very-secret";
const plain = { to: "buyer@acme.example", subject: "Ready", text: "The capacity is ready.", html: "<p>Ready.</p>" };
const link = `https://capacity.example/confirm/${confirmationToken}`;
const failing = (): Promise<string> => Promise.reject(new Error("connection to postgresql://u:pw@db lost"));
const gone = (): Promise<string> =>
  Promise.reject(new HeadroomError("not_found", "There is no such confirmation link."));
const never = (): Promise<string> => new Promise(() => undefined);

let postal: ScriptedServer;
let mailServer: MailServer;
const rails: EmailRail[] = [];

function railFor(transport: EmailRailOptions["transport"], token = makeToken): EmailRail {
  const rail = createEmailRail({ from, transport, confirmationToken: token });
  rails.push(rail);
  return rail;
}
const byPostal = (token = makeToken): EmailRail => railFor({ kind: "postal", url: `${postal.url}/postal`, key }, token);
const bySmtp = (): EmailRail => railFor({ kind: "smtp", url: mailServer.url });

beforeEach(async () => {
  postal = await startScriptedServer();
  mailServer = await startMailServer();
});

afterEach(async () => {
  for (const rail of rails.splice(0)) rail.close();
  await postal.close();
  await mailServer.close();
});

describe("a mail by SMTP", () => {
  test("has both texts, the link in each, one recipient, and the same Message-ID when it is repeated", async () => {
    const message = messageOf(letter({ subject: "Please confirm: 2 × large" }));
    const rail = bySmtp();
    const outcome = await rail.send(message, notAborted);
    const id = `${message.outboxId}@headroom.example`;
    expect(outcome).toEqual({ kind: "delivered", code: "250", reference: id });
    await rail.send({ ...message, tryNo: 2 }, notAborted);
    expect(mailServer.mails.map((mail) => mail.messageId)).toEqual([`<${id}>`, `<${id}>`]);
    expect(mailServer.mails[0]).toMatchObject({
      subject: "Please confirm: 2 × large",
      from: "capacity@headroom.example",
      to: ["buyer@acme.example"],
      text: expect.stringContaining(link),
      html: expect.stringContaining(`href="${link}"`),
      headers: expect.arrayContaining(["auto-submitted"]),
    });
  });

  test("cannot get another header or another recipient from its content", async () => {
    const subject = "Hello\r\nBcc: victim@example.com\r\n\r\nBody";
    await bySmtp().send(
      messageOf({ ...plain, subject, text: "One\r\n.\r\nMAIL FROM:<x@example.com>\r\n" }),
      notAborted,
    );
    expect(mailServer.mails).toHaveLength(1);
    const [mail] = mailServer.mails;
    expect(mail?.headers).not.toContain("bcc");
    expect(mail?.to).toEqual(["buyer@acme.example"]);
    expect(mail?.text).toContain("MAIL FROM:<x@example.com>");
  });

  test("that is refused gives the server's numbers, and not its words, which may quote the mail", async () => {
    for (const payload of [{ ...plain, text: "a sentence to be quoted" }, letter()]) {
      mailServer.next("refuse_echoing");
      expect(await bySmtp().send(messageOf(payload), notAborted)).toMatchObject({
        kind: "rejected",
        code: "smtp_5xx",
        reason: "The mail server refuses the mail. (554 5.6.0)",
      });
    }
  });

  test("whose time runs out while it is being written is not sent", async () => {
    const clock = new AbortController();
    const written = { ...plain, messageId: "one@headroom.example", tag: "one", headers: {} };
    const sending = createSmtpTransport(mailServer.url, from).send(written, clock.signal);
    clock.abort();
    expect(await sending).toMatchObject({ kind: "failure", code: "aborted_before_send" });
    // A later mail has arrived, so an earlier one would have.
    await bySmtp().send(messageOf({ ...plain, subject: "The next" }), notAborted);
    expect(mailServer.mails.map(({ subject }) => subject)).toEqual(["The next"]);
  });

  test("logs in on this machine, but sends no password in clear text to a server that may be remote", async () => {
    const near = mailServer.url.replace("//", "//user:secret-password@");
    expect(await railFor({ kind: "smtp", url: near }).send(messageOf(plain), notAborted)).toMatchObject({
      kind: "delivered",
    });
    expect(mailServer.logins).toEqual(["user"]);
    // The address leads to this machine as well, which the rail does not know.
    const far = near.replace("127.0.0.1", "0.0.0.0");
    const outcome = await railFor({ kind: "smtp", url: far }).send(messageOf(plain), notAborted);
    expect(outcome).toMatchObject({ kind: "retry", code: "tls_failed" });
    expect(mailServer.logins).toEqual(["user"]);
  });
});

const error = (code: string, message = "no"): ScriptedAnswer => ({
  body: { status: "error", time: 0, flags: {}, data: { code, message } },
});

describe("a mail by Postal", () => {
  const sent = { body: { status: "success", time: 0.1, flags: {}, data: { message_id: "abc@postal", messages: {} } } };

  test("is posted with the key, and Postal's id of it is kept", async () => {
    postal.script.push(sent);
    const message = messageOf(letter({ subject: "Please confirm" }));
    expect(await byPostal().send(message, notAborted)).toEqual({
      kind: "delivered",
      code: "success",
      reference: "abc@postal",
    });
    expect(postal.requests[0]).toMatchObject({
      method: "POST",
      path: "/postal/api/v1/send/message",
      headers: { "x-server-api-key": key },
    });
    expect(JSON.parse(postal.requests[0]?.body ?? "")).toMatchObject({
      from,
      to: ["buyer@acme.example"],
      subject: "Please confirm",
      plain_body: expect.stringContaining(link),
      html_body: expect.stringContaining(link),
      headers: { "X-Headroom-Message-Id": `<${message.outboxId}@headroom.example>` },
    });
  });

  test.each<[string, ScriptedAnswer, object]>([
    ["a wrong key", error("AccessDenied", `unknown ${key}`), { kind: "retry", code: "postal_access_denied" }],
    ["a suspended server", error("ServerSuspended"), { kind: "retry", code: "postal_suspended" }],
    ["a sender that is not ours", error("UnauthenticatedFromAddress"), { kind: "retry", code: "postal_sender" }],
    ["an unlisted error", error("NoRecipients"), { kind: "rejected", code: "postal_refused" }],
    [
      "a wrong parameter",
      { body: { status: "parameter-error", data: { message: "to is wrong" } } },
      { kind: "rejected", code: "postal_refused" },
    ],
    [
      "a request for a pause",
      { status: 429, headers: { "retry-after": "5" }, body: "" },
      { kind: "retry", code: "http_429", afterMs: 5_000, throttled: true },
    ],
    ["a failing application", { status: 500, body: "" }, { kind: "unknown", code: "http_5xx" }],
    ["a balancer without a server", { status: 503, body: "" }, { kind: "unknown", code: "http_5xx" }],
    [
      "a balancer that says for how long",
      { status: 503, headers: { "retry-after": "9" }, body: "" },
      { kind: "unknown", code: "http_5xx", afterMs: 9_000, throttled: true },
    ],
    [
      "a failing application with no more information",
      { ...error("InternalServerError"), status: 500 },
      { kind: "unknown", code: "http_5xx" },
    ],
    [
      "a failing application that had refused the mail",
      { ...error("NoRecipients"), status: 500 },
      { kind: "rejected", code: "postal_refused" },
    ],
    [
      "a failing application that had refused the key",
      { ...error("AccessDenied"), status: 503 },
      { kind: "retry", code: "postal_access_denied" },
    ],
    ["a gateway that lost track of it", { status: 504, body: "" }, { kind: "unknown", code: "http_5xx" }],
    ["an answer that is not an envelope", { body: { ok: true } }, { kind: "unknown", code: "bad_answer" }],
    ["another application's page", { status: 404, body: "<html>" }, { kind: "retry", code: "http_other" }],
  ])("meets %s", async (_what, answer, outcome) => {
    postal.script.push(answer);
    const result = await byPostal().send(messageOf(plain), notAborted);
    expect(result).toMatchObject(outcome);
    expect(JSON.stringify(result)).not.toContain(key);
  });

  test("that contains a link keeps nothing of the answer", async () => {
    postal.script.push(error("NoContent", `I read ${link}`));
    const outcome = await byPostal().send(messageOf(letter()), notAborted);
    expect(outcome).toMatchObject({ kind: "rejected", reason: "Postal refuses the mail. (NoContent)" });
  });
});

describe("a confirmation link", () => {
  test("that cannot be made for now delays the mail, and one that is gone ends it", async () => {
    const outcome = await byPostal(failing).send(messageOf(letter()), notAborted);
    expect(outcome).toEqual({
      kind: "retry",
      code: "token_unavailable",
      reason: "The confirmation link could not be made.",
    });
    expect(await byPostal(gone).send(messageOf(letter()), notAborted)).toMatchObject({
      kind: "rejected",
      code: "token_gone",
    });
    expect(postal.requests).toHaveLength(0);
  });

  test("is not waited for beyond the call's time, and is not requested unnecessarily", async () => {
    const clock = new AbortController();
    const outcome = byPostal(never).send(messageOf(letter()), { signal: clock.signal });
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "retry", code: "aborted_before_send" });
    postal.script.push({ body: { status: "success", data: {} } });
    expect(await byPostal(never).send(messageOf(plain), notAborted)).toMatchObject({ kind: "delivered" });
  });
});

test("settings that could inject a header are refused, without repeating them", () => {
  for (const bad of ["Headroom <a@b.example>\r\nBcc: c@d.example", "a@b.example, c@d.example", "nobody"]) {
    const make = (): unknown =>
      createEmailRail({
        from: bad,
        transport: { kind: "smtp", url: "smtp://127.0.0.1" },
        confirmationToken: makeToken,
      });
    expect(make).toThrow(expect.objectContaining({ code: "rail_invalid", detail: expect.not.stringContaining(bad) }));
  }
});
