/**
 * The rail `email`: sends a letter by SMTP or by Postal's API. Neither can deduplicate nor be asked, so it is blind. The
 * Message-ID is the same over all tries, so that a person can recognise a repeat.
 *
 * Owns: turning a row into a letter and a result into an outcome. Does not own: texts, the tokens of links (the functions
 * that make them are injected), retries.
 */
import { HeadroomError } from "../../db/errors.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import { outcomeOfCode } from "../exchange-codes.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type { Json, Rail, RailContext, RailMessage, RailOutcome, Validation } from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { emailCodes } from "./codes.ts";
import type { EmailFailure } from "./codes.ts";
import { domainOf, emailSettingsSchema } from "./config.ts";
import type { EmailSettings } from "./config.ts";
import { letterOf, letterSchema, linksIn } from "./letter.ts";
import type { Letter, LinkKind } from "./letter.ts";
import { createPostalTransport } from "./postal.ts";
import { createSmtpTransport } from "./smtp.ts";
import type { Transport } from "./smtp.ts";

/** Makes the token of a link from an id. Its result is put into the mail and nowhere else. */
export type MakeToken = (id: string, message: RailMessage, signal: AbortSignal) => Promise<string>;

export interface EmailRailOptions extends EmailSettings {
  /** For the customer's link. */
  readonly confirmationToken: MakeToken;
  /** For the link to an order in the self-service wizard. Without it, mails that have one are not sent. */
  readonly draftToken?: MakeToken;
  /** For the link to unsubscribe. Without it, mails that have one are not sent. */
  readonly unsubscribeToken?: MakeToken;
  /** Hard limit of one call. Default: 30,000, as mail servers are slow. */
  readonly timeoutMs?: number;
  /** How many mails are under way at the same time, each on its own connection. Default: 5 by SMTP, 20 by Postal's API. */
  readonly concurrency?: number;
}

export interface EmailRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = { timeoutMs: 30_000 } satisfies Partial<EmailRailOptions>;
/** Mail servers limit the sessions of a sender; an HTTP API does not. */
const concurrencyBy = { smtp: 5, postal: 20 } as const;

interface Office {
  readonly transport: Transport;
  readonly domain: string;
  readonly makeToken: Readonly<Record<LinkKind, MakeToken>>;
}

export function createEmailRail(options: EmailRailOptions): EmailRail {
  const { timeoutMs, confirmationToken } = { ...defaults, ...options };
  const { draftToken = noToken, unsubscribeToken = noToken } = options;
  const settings = requireSettings("email", emailSettingsSchema, options);
  const { concurrency = concurrencyBy[settings.transport.kind] } = options;
  const makeToken = { confirmation: confirmationToken, draft: draftToken, unsubscribe: unsubscribeToken };
  const office = openOffice(settings, makeToken);
  return {
    name: "email",
    capability: "blind",
    timeoutMs,
    concurrency,
    codes: Object.keys(emailCodes),
    validate: ({ payload }) => validate(payload),
    send: (message, context) => send(office, message, context),
    close: () => office.transport.close(),
  };
}

const noToken: MakeToken = () => Promise.reject(new Error("no such links are made here"));

function openOffice(settings: EmailSettings, makeToken: Office["makeToken"]): Office {
  const { from, transport } = settings;
  const domain = domainOf(from);
  const made =
    transport.kind === "postal" ? createPostalTransport(transport, from) : createSmtpTransport(transport.url, from);
  return { transport: made, domain, makeToken };
}

function validate(payload: Json): Validation {
  const parsed = letterSchema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

async function send(office: Office, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const letter = await writeLetter(office, message, signal);
  if ("kind" in letter) return letter;
  const result = await office.transport.send(letter, signal);
  if (result.kind === "failure") return outcomeOf(result);
  return { kind: "delivered", code: result.code, reference: result.reference ?? letter.messageId };
}

async function writeLetter(office: Office, message: RailMessage, signal: AbortSignal): Promise<Letter | RailOutcome> {
  const payload = letterSchema.parse(message.payload);
  const tokens: Partial<Record<LinkKind, string>> = {};
  for (const { kind, id } of linksIn(payload)) {
    const token = await tokenOf(office.makeToken[kind], id, message, signal);
    if (typeof token !== "string") return outcomeOf(token);
    tokens[kind] = token;
  }
  return letterOf(payload, { outboxId: message.outboxId, domain: office.domain }, tokens);
}

async function tokenOf(
  makeToken: MakeToken,
  id: string,
  message: RailMessage,
  signal: AbortSignal,
): Promise<string | EmailFailure> {
  if (signal.aborted) return { kind: "failure", code: "aborted_before_send" };
  try {
    const token = await withTimeout(makeToken(id, message, signal), signal);
    return token.kind === "done" ? token.value : { kind: "failure", code: "aborted_before_send" };
  } catch (error) {
    // Its error may quote a connection string or a secret, so it is not repeated.
    const gone = error instanceof HeadroomError && error.code === "not_found";
    return { kind: "failure", code: gone ? "token_gone" : "token_unavailable" };
  }
}

/**
 * Only the numbers of the receiver's answer are kept: a server may quote the mail, in any encoding, and an erasure could not remove it
 * from the archive, which is never changed.
 */
function outcomeOf(failure: EmailFailure): RailOutcome {
  const { code, status } = failure;
  const { outcome: kind, meaning } = emailCodes[code];
  return outcomeOfCode(kind, code, reasonOf(status === undefined ? meaning : `${meaning} (${status})`), failure);
}
