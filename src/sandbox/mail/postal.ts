/**
 * Postal's sending API, and the webhooks in which it reports what happened to a mail.
 *
 * Owns: the envelope, the key, the RSA signature. Does not own: the mailbox.
 */
import { createPublicKey, sign, type KeyObject } from "node:crypto";
import { Hono } from "hono";
import { z } from "zod";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import { neverWorks, type Mail, type Mailbox } from "./mailbox.ts";

const addresses = z.union([z.array(z.string().min(1)), z.string().transform((text) => [text])]).optional();
const messageSchema = z.looseObject({
  to: addresses,
  cc: addresses,
  bcc: addresses,
  from: z.string().optional(),
  subject: z.string().optional(),
  tag: z.string().nullish(),
  plain_body: z.string().nullish(),
  html_body: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
});

/** Postal gives a receiver five seconds, and retries for about a day; a few of those attempts are enough for a sandbox. */
const timeoutMs = 5_000;
const repeatsMs = [60_000, 300_000] as const;
const maxRecipients = 50;

export function postalRoutes(world: World, mailbox: Mailbox, key: KeyObject): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.post("/postal/api/v1/send/message", async (context) => {
    const body = await readJson(context);
    const parsed = messageSchema.safeParse(body);
    const channel = parsed.data?.to?.[0];
    return answer(context, world, { provider: "postal", method: "send", channel, body }, dialect, () =>
      send(context, world, mailbox, key, parsed.data),
    );
  });
  routes.post("/postal/api/v1/messages/message", async (context) => {
    const body = await readJson(context);
    return answer(
      context,
      world,
      { provider: "postal", method: "message", body },
      dialect,
      () => unknownKey(context, world) ?? refused("MessageNotFound", "No message found matching provided ID"),
    );
  });
  return routes;
}

function unknownKey(context: SandboxContext, world: World): Response | undefined {
  const given = context.req.header("x-server-api-key") ?? "";
  const wanted = world.secrets.postalApiKey;
  if (given === "") return refused("AccessDenied", "Must be authenticated as a server.");
  if (wanted === undefined || given === wanted) return undefined;
  return refused("InvalidServerAPIKey", "The API token provided in X-Server-API-Key was not valid.");
}

function send(
  context: SandboxContext,
  world: World,
  mailbox: Mailbox,
  key: KeyObject,
  message: z.infer<typeof messageSchema> | undefined,
): Response {
  const refusal = unknownKey(context, world);
  if (refusal !== undefined) return refusal;
  if (message === undefined) return refused("ValidationError", "The provided data was not sufficient to send an email");
  const to = [...(message.to ?? []), ...(message.cc ?? []), ...(message.bcc ?? [])].map(bare);
  if (to.length === 0) return refused("NoRecipients", "There are no recipients defined to receive this message");
  if (to.length > maxRecipients)
    return refused("TooManyToAddresses", "The maximum number of To addresses has been reached");
  if (!message.plain_body && !message.html_body)
    return refused("NoContent", "There is no content defined for this e-mail");
  if (!message.from) return refused("FromAddressMissing", "The From address is missing and is required");
  const headers = Object.fromEntries(
    Object.entries(message.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const number = world.ids.number("postal-message");
  const messageId = headers["message-id"] ?? `<postal-${number}@sandbox.headroom.example>`;
  const mail = mailbox.add({
    via: "postal",
    from: bare(message.from),
    to,
    subject: message.subject ?? "",
    messageId,
    text: message.plain_body ?? undefined,
    html: message.html_body ?? undefined,
    headers,
    tag: message.tag ?? undefined,
  });
  report(world, key, mail, to.some(neverWorks) ? "MessageDeliveryFailed" : "MessageSent");
  return envelope("success", {
    message_id: messageId.replaceAll(/[<>]/g, ""),
    messages: Object.fromEntries(to.map((address) => [address, { id: number, token: tokenOf(mail) }])),
  });
}

export type PostalEvent =
  "MessageSent" | "MessageDelayed" | "MessageDeliveryFailed" | "MessageHeld" | "MessageBounced" | "MessageLinkClicked";

/** What Postal reports for each event except bounces: a status, its own text and the other server's. */
const saidOf: Readonly<Record<Exclude<PostalEvent, "MessageBounced">, readonly [string, string, string]>> = {
  MessageSent: ["Sent", "Message sent to the mailbox.", "250 OK"],
  MessageDelayed: ["SoftFail", "The server asked to try again later.", "451 4.3.0 out of order"],
  MessageDeliveryFailed: ["HardFail", "No such address.", "550 5.1.1 no such address"],
  MessageHeld: ["Held", "Recipient (somebody) is on the suppression list.", ""],
  MessageLinkClicked: ["Sent", "", ""],
};

/** Reports to Headroom what happened to a mail. */
export function report(world: World, key: KeyObject, mail: Mail, event: PostalEvent): void {
  mail.status = statusOf(event) ?? mail.status;
  world.changed();
  const uuid = world.ids.uuid("postal-webhook");
  const timestamp = world.now() / 1000;
  const message = messageOf(mail, timestamp);
  const payload =
    event === "MessageBounced"
      ? { original_message: message, bounce: { ...message, direction: "incoming", subject: "Undelivered mail" } }
      : { message, ...deliveryOf(event), sent_with_ssl: false, timestamp, time: 0.01 };
  const body = JSON.stringify({ event, timestamp, payload, uuid });
  world.webhooks.dispatch({
    provider: "postal",
    title: `${event} ${mail.subject}`.slice(0, 120),
    path: "/webhooks/postal",
    body,
    headers: () => signed(key, body),
    timeoutMs,
    retryAfterMs: repeatsMs,
  });
}

function statusOf(event: PostalEvent): Mail["status"] | undefined {
  if (event === "MessageSent") return "sent";
  return event === "MessageBounced" || event === "MessageDeliveryFailed" ? "bounced" : undefined;
}

function deliveryOf(event: keyof typeof saidOf): Record<string, string> {
  const [status, details, output] = saidOf[event];
  return { status, details, output };
}

function messageOf(mail: Mail, timestamp: number): Record<string, unknown> {
  return {
    id: Number(mail.id.replaceAll(/\D/g, "")),
    token: tokenOf(mail),
    direction: "outgoing",
    message_id: (mail.messageId ?? "").replaceAll(/[<>]/g, ""),
    to: mail.to[0],
    from: mail.from,
    subject: mail.subject,
    timestamp,
    spam_status: "NotChecked",
    tag: mail.tag ?? null,
  };
}

function signed(key: KeyObject, body: string): Record<string, string> {
  const bytes = Buffer.from(body);
  return {
    "content-type": "application/json",
    "user-agent": "Postal/3.3",
    "x-postal-signature": sign("sha1", bytes, key).toString("base64"),
    "x-postal-signature-256": sign("sha256", bytes, key).toString("base64"),
    "x-postal-signature-kid": "sandbox",
  };
}

/** As Postal shows it: the key without its PEM frame. */
export function publicKeyOf(key: KeyObject): string {
  return createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64");
}

function tokenOf(mail: Mail): string {
  return mail.id.replaceAll(/\W/g, "").padEnd(16, "0");
}

/** `Name <address>` and plain addresses alike. */
function bare(address: string): string {
  return /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address.trim();
}

async function readJson(context: SandboxContext): Promise<unknown> {
  try {
    return await context.req.json();
  } catch {
    return undefined;
  }
}

/** Postal answers its own refusals with status 200, too. */
function envelope(status: "success" | "error", data: Record<string, unknown>, httpStatus = 200): Response {
  return Response.json({ status, time: 0.01, flags: {}, data }, { status: httpStatus });
}

function refused(code: string, message: string): Response {
  return envelope("error", { code, message });
}

const dialect: Dialect = {
  failed: () => envelope("error", { code: "InternalServerError", message: "out of order" }, 500),
  rateLimited: (seconds) =>
    new Response("Too Many Requests", { status: 429, headers: { "retry-after": String(seconds) } }),
  refused: (words) => refused("ValidationError", words),
};
