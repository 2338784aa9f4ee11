/**
 * One mail over Postal's HTTP API.
 *
 * Owns: the request and reading Postal's envelope, which says `success` or `error` whatever the HTTP status is.
 * Does not own: what follows from the outcome.
 */
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import { exchange, openConnections } from "../exchange.ts";
import type { ExchangeAnswer } from "../exchange.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { codeOfPostalError, codeOfStatus, isPostalRefusal } from "./codes.ts";
import type { EmailFailure, EmailResult } from "./codes.ts";
import type { Letter } from "./letter.ts";
import type { Transport } from "./smtp.ts";

const maxResponseBytes = 65_536;

interface PostalSettings {
  readonly url: string;
  readonly key: string;
}

function addressOf({ url }: PostalSettings, method: string): URL {
  return new URL(`api/v1/${method}`, url.endsWith("/") ? url : `${url}/`);
}

function headersOf({ key }: PostalSettings): Readonly<Record<string, string>> {
  return {
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "Headroom",
    "x-server-api-key": key,
  };
}

export function createPostalTransport(settings: PostalSettings, from: string): Transport {
  const connections = openConnections();
  const url = addressOf(settings, "send/message");
  const headers = headersOf(settings);
  return {
    async send(letter, signal) {
      const body = Buffer.from(JSON.stringify(messageOf(letter, from)));
      const result = await exchange({ url, headers, body, maxResponseBytes }, connections, signal);
      if (result.kind !== "answer") return { kind: "failure", code: result.code };
      return readAnswer(result, letter, new Date());
    },
    close: () => connections.close(),
  };
}

/** Asks about a message that no server has. Undefined: Postal accepts the key, and says that there is no such message. */
export async function checkPostalAccess(
  settings: PostalSettings,
  signal: AbortSignal,
): Promise<EmailFailure | undefined> {
  const connections = openConnections();
  try {
    const body = Buffer.from(JSON.stringify({ id: 0 }));
    const url = addressOf(settings, "messages/message");
    const result = await exchange({ url, headers: headersOf(settings), body, maxResponseBytes }, connections, signal);
    if (result.kind !== "answer") return { kind: "failure", code: result.code };
    const envelope = envelopeSchema.safeParse(parseJson(result.body)).data;
    if (result.status === 200 && envelope?.status === "error") {
      const code = codeOfPostalError(envelope.data.code);
      return code === "postal_refused" ? undefined : { kind: "failure", code };
    }
    if (result.status === 200) return envelope === undefined ? { kind: "failure", code: "bad_answer" } : undefined;
    return { kind: "failure", code: codeOfStatus(result.status), status: `HTTP ${result.status}` };
  } finally {
    connections.close();
  }
}

/** Postal gives every mail its own Message-ID. Ours is sent in another header, for tracing, and the tag comes back in webhooks. */
function messageOf(letter: Letter, from: string): object {
  const { to, subject, text, html, messageId, tag } = letter;
  return {
    from,
    to: [to],
    subject,
    tag,
    plain_body: text,
    ...(html === undefined ? {} : { html_body: html }),
    headers: { "Auto-Submitted": "auto-generated", "X-Headroom-Message-Id": `<${messageId}>`, ...letter.headers },
  };
}

const envelopeSchema = z.object({
  status: z.string(),
  data: z
    .object({
      message_id: z.string().optional().catch(undefined),
      code: z.string().optional().catch(undefined),
    })
    .catch({}),
});

export function readAnswer(answer: ExchangeAnswer, letter: Letter, now: Date): EmailResult {
  const { status, headers, body } = answer;
  const envelope = envelopeSchema.safeParse(parseJson(body)).data;
  if (status === 200 && envelope?.status === "success") {
    return { kind: "sent", code: "success", reference: envelope.data.message_id ?? letter.messageId };
  }
  const refused = envelope?.status === "error" || envelope?.status === "parameter-error";
  // From a failing server, "error" alone proves nothing; a check that precedes accepting the mail does.
  if (refused && (status < 500 || envelope.status === "parameter-error" || isPostalRefusal(envelope.data.code))) {
    const { code } = envelope.data;
    // Postal's own codes, such as NoRecipients; a word of any other form is not repeated.
    const word = code !== undefined && /^\w{1,60}$/.test(code) ? code : envelope.status;
    return { kind: "failure", code: codeOfPostalError(code), status: word };
  }
  if (status === 200) return { kind: "failure", code: "bad_answer" };
  const afterMs = parseRetryAfter(headers["retry-after"], headers.date, now);
  return {
    kind: "failure",
    code: codeOfStatus(status),
    status: `HTTP ${status}`,
    ...(afterMs === undefined ? {} : { afterMs }),
    throttled: asksForQuiet(status, afterMs),
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
