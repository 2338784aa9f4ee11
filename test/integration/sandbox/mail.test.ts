import { createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import nodemailer from "nodemailer";
import { describe, expect, test } from "vitest";
import type { FaultKind } from "../../../src/sandbox/core/faults.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { setStage } from "./harness.ts";

const patience = (): AbortSignal => AbortSignal.timeout(10_000);
const to = "buyer@acme.example";

async function mail(sandbox: Sandbox, subject: string): Promise<string> {
  const transport = nodemailer.createTransport({ url: sandbox.smtpUrl, connectionTimeout: 5_000 });
  try {
    const sent = await transport.sendMail({
      from: "Headroom <no-reply@headroom.example>",
      to,
      subject,
      text: "Please confirm: http://127.0.0.1:1/c/abc.",
      html: '<p>Please <a href="http://127.0.0.1:1/c/abc">confirm</a> ✅</p>',
      messageId: `<${subject}@headroom.example>`,
    });
    return sent.response.slice(0, 3);
  } catch (error) {
    const code = error instanceof Error && "responseCode" in error ? error.responseCode : undefined;
    return typeof code === "number" ? String(code) : "cut";
  } finally {
    transport.close();
  }
}

describe("the mail stand-in by SMTP, through nodemailer", () => {
  test("a mail arrives with its subject, both bodies, its id and its links", async () => {
    await using stage = await setStage();
    expect(await mail(stage.sandbox, "hällo")).toBe("250");
    const [arrived] = stage.sandbox.mail.list(to);
    expect(arrived).toMatchObject({
      via: "smtp",
      from: "no-reply@headroom.example",
      to: [to],
      subject: "hällo",
      messageId: "<hällo@headroom.example>",
    });
    expect(arrived?.html).toContain("✅");
    expect(arrived === undefined ? [] : stage.sandbox.mail.linksIn(arrived)).toEqual(["http://127.0.0.1:1/c/abc"]);
    expect(stage.sandbox.mail.list("somebody@else.example")).toEqual([]);
  });

  test("a sender that hangs up in the middle of a mail has sent none, and harms nobody", async () => {
    await using stage = await setStage();
    const { hostname, port } = new URL(stage.sandbox.smtpUrl);
    const socket = connect(Number(port), hostname);
    const says = ["EHLO me", "MAIL FROM:<me@here.example>", `RCPT TO:<${to}>`, "DATA"];
    socket.on("data", () => {
      const line = says.shift();
      if (line === undefined) socket.write("Subject: half\r\n\r\nHe", () => socket.destroy());
      else socket.write(`${line}\r\n`);
    });
    await once(socket, "close");
    expect(await mail(stage.sandbox, "after it")).toBe("250");
    expect(stage.sandbox.mail.list(to)).toHaveLength(1);
  });

  const faults: [FaultKind, string, boolean][] = [
    ["error500", "451", false],
    ["rateLimit", "451", false],
    ["refuse", "550", false],
    ["refuseEchoing", "550", false],
    ["dropBeforeAccept", "cut", false],
    ["error500AfterAccept", "451", true],
    ["dropAfterAccept", "cut", true],
    ["cutAnswer", "cut", true],
    ["garbage", "cut", true],
  ];
  for (const [kind, seen, effect] of faults) {
    test(`${kind} by SMTP appears as ${seen}, and the mail is ${effect ? "there" : "not there"}`, async () => {
      await using stage = await setStage();
      stage.sandbox.faults.add({ provider: "smtp", kind, times: 1 });
      expect(await mail(stage.sandbox, "first")).toBe(seen);
      expect(stage.sandbox.mail.list()).toHaveLength(effect ? 1 : 0);
      expect(await mail(stage.sandbox, "second")).toBe("250");
    });
  }

  test("a late answer holds the sender until it is released; the mail arrives immediately", async () => {
    await using stage = await setStage();
    stage.sandbox.faults.add({ provider: "smtp", kind: "late", times: 1 });
    const sending = mail(stage.sandbox, "first");
    await stage.sandbox.requests.waitFor((request) => request.fault === "late", patience());
    expect(stage.sandbox.mail.list()).toHaveLength(1);
    stage.sandbox.faults.release();
    expect(await sending).toBe("250");
  });

  test("one recipient can be refused by name", async () => {
    await using stage = await setStage();
    stage.sandbox.faults.add({ provider: "smtp", kind: "refuse", method: "RCPT", channel: to });
    expect(await mail(stage.sandbox, "first")).toBe("550");
    expect(stage.sandbox.mail.list()).toEqual([]);
  });

  test("a sandbox closes while a sender hangs", async () => {
    const stage = await setStage();
    stage.sandbox.faults.add({ provider: "smtp", kind: "hang" });
    const sending = mail(stage.sandbox, "first");
    await stage.sandbox.requests.waitFor((request) => request.fault === "hang", patience());
    await stage[Symbol.asyncDispose]();
    expect(await sending).toBe("cut");
  });
});

function send(url: string, body: unknown, key = "postal-key"): Promise<Response> {
  return fetch(`${url}/postal/api/v1/send/message`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === "" ? {} : { "x-server-api-key": key }) },
    body: JSON.stringify(body),
  });
}

describe("the mail stand-in by Postal's API", () => {
  const message = {
    to: [to],
    from: "Headroom <no-reply@headroom.example>",
    subject: "Please confirm",
    plain_body: "x",
  };

  test("a message is accepted in Postal's envelope, and Postal reports it with a signature that its key proves", async () => {
    await using stage = await setStage();
    const answer = (await (await send(stage.sandbox.url, message)).json()) as Record<string, unknown>;
    expect(answer).toMatchObject({ status: "success", flags: {}, data: { messages: { [to]: { id: 1 } } } });
    expect(stage.sandbox.mail.list(to)[0]).toMatchObject({ via: "postal", subject: "Please confirm" });
    await stage.ear.heardAtLeast(1, patience());
    const [heard] = stage.ear.heard;
    expect(heard?.path).toBe("/webhooks/postal");
    const key = createPublicKey({
      key: Buffer.from(stage.sandbox.mail.postalPublicKey, "base64"),
      format: "der",
      type: "spki",
    });
    const signature = Buffer.from(String(heard?.headers["x-postal-signature-256"]), "base64");
    expect(verify("sha256", Buffer.from(heard?.body ?? ""), key, signature)).toBe(true);
    expect(verify("sha256", Buffer.from(`${heard?.body} `), key, signature)).toBe(false);
    expect(JSON.parse(heard?.body ?? "")).toMatchObject({ event: "MessageSent", payload: { message: { to } } });
  });

  test("a bounce is reported on request", async () => {
    await using stage = await setStage();
    await send(stage.sandbox.url, message);
    stage.sandbox.mail.report(stage.sandbox.mail.list()[0]?.id ?? "", "MessageBounced");
    await stage.ear.heardAtLeast(2, patience());
    expect(JSON.parse(stage.ear.heard[1]?.body ?? "")).toMatchObject({
      event: "MessageBounced",
      payload: { original_message: { to } },
    });
    expect(stage.sandbox.mail.list()[0]?.status).toBe("bounced");
  });

  test("invalid calls are refused with status 200 and Postal's code", async () => {
    await using stage = await setStage();
    const cases: [Promise<Response>, string][] = [
      [send(stage.sandbox.url, message, ""), "AccessDenied"],
      [send(stage.sandbox.url, { ...message, to: [] }), "NoRecipients"],
      [send(stage.sandbox.url, { ...message, plain_body: "" }), "NoContent"],
      [send(stage.sandbox.url, { ...message, from: "" }), "FromAddressMissing"],
      [send(stage.sandbox.url, [1]), "ValidationError"],
    ];
    for (const [call, code] of cases) {
      const response = await call;
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ status: "error", data: { code } });
    }
    expect(stage.sandbox.mail.list()).toEqual([]);
  });
});
