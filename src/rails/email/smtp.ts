/**
 * One mail over SMTP, with proof of how far it got.
 *
 * Every mail has its own connection. The library's pool would save the handshake, but it sends a mail again on its own
 * when a connection breaks, and cannot abort a single mail when its time is up.
 *
 * Owns: the session, and the line between "not accepted" and "may have been accepted". The server gets the content only
 * after asking for it; before that line nothing was sent. Does not own: what follows from the outcome.
 */
import { Readable } from "node:stream";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { codeOfReply, isAboutRecipient } from "./codes.ts";
import type { EmailCodeName, EmailFailure, EmailResult } from "./codes.ts";
import type { Letter } from "./letter.ts";
import { deferred } from "../../db/wait/deferred.ts";

export interface Transport {
  send(letter: Letter, signal: AbortSignal): Promise<EmailResult>;
  close(): void;
}

export function createSmtpTransport(url: string, from: string): Transport {
  const server = serverOf(new URL(url));
  return {
    async send(letter, signal) {
      if (signal.aborted) return failure("aborted_before_send");
      const mail = await compose(letter, from);
      return await new Delivery(server, mail, signal).run();
    },
    close() {},
  };
}

interface Server {
  readonly options: ConstructorParameters<typeof SMTPConnection>[0];
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function serverOf(url: URL): Server {
  const secure = url.protocol === "smtps:";
  const user = decodeURIComponent(url.username);
  const credentials = user === "" ? undefined : { user, pass: decodeURIComponent(url.password) };
  return {
    credentials,
    options: {
      host: url.hostname.replaceAll(/^\[|\]$/g, ""),
      port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
      secure,
      // A password must not travel in the clear, whatever a server (or an attacker in between) offers.
      requireTLS: !secure && credentials !== undefined && !loopback.test(url.hostname),
      logger: false,
      // The relay's own time-out ends the call; these only close a forgotten socket.
      connectionTimeout: 30_000,
      greetingTimeout: 30_000,
      socketTimeout: 60_000,
    },
  };
}

interface Mail {
  readonly content: Buffer;
  readonly from: string;
  readonly to: string[];
}

async function compose(letter: Letter, from: string): Promise<Mail> {
  const { to, subject, text, html, messageId } = letter;
  const composer = new MailComposer({
    from,
    to,
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    messageId: `<${messageId}>`,
    headers: { "Auto-Submitted": "auto-generated", ...letter.headers },
    // A path or a URL in a text is only text.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const node = composer.compile();
  const envelope = node.getEnvelope();
  const content = await node.build();
  return { content, from: envelope.from === false ? "" : envelope.from, to: [...envelope.to] };
}

function failure(code: EmailCodeName, more: Omit<EmailFailure, "kind" | "code"> = {}): EmailFailure {
  return { kind: "failure", code, ...more };
}

class Delivery {
  readonly #server: Server;
  readonly #mail: Mail;
  readonly #signal: AbortSignal;
  readonly #connection: SMTPConnection;
  readonly #result = deferred<EmailResult>();
  #contentGone = false;

  constructor(server: Server, mail: Mail, signal: AbortSignal) {
    this.#server = server;
    this.#mail = mail;
    this.#signal = signal;
    this.#connection = new SMTPConnection(server.options);
  }

  async run(): Promise<EmailResult> {
    // Composing takes a while, and a signal that aborts meanwhile fires no event afterwards.
    if (this.#signal.aborted) return failure("aborted_before_send");
    this.#signal.addEventListener("abort", this.#onAbort);
    this.#connection.on("error", (error: unknown) => this.#fail(error));
    // The server ended it in a way that the library does not report as an error.
    this.#connection.on("end", () => this.#fail(undefined));
    this.#connection.connect((error) => {
      if (error) this.#fail(error);
      else this.#login();
    });
    try {
      return await this.#result.promise;
    } finally {
      this.#signal.removeEventListener("abort", this.#onAbort);
      this.#connection.close();
    }
  }

  #login(): void {
    const { credentials } = this.#server;
    if (credentials === undefined) return this.#send();
    this.#connection.login(credentials, (error) => {
      if (error) this.#fail(error);
      else this.#send();
    });
  }

  #send(): void {
    const { content, from, to } = this.#mail;
    // Read only once the server has asked for the content.
    const stream = new Readable({
      read: () => {
        this.#contentGone = true;
        stream.push(content);
        stream.push(null);
      },
    });
    this.#connection.send({ from, to, size: content.length }, stream, (error, info) => {
      if (error) return this.#fail(error);
      this.#result.resolve({ kind: "sent", code: replyOf(info.response) });
    });
  }

  readonly #onAbort = (): void => {
    this.#result.resolve(failure(this.#contentGone ? "timed_out" : "aborted_before_send"));
  };

  #fail(error: unknown): void {
    this.#result.resolve(this.#contentGone ? afterContent(error) : beforeContent(error));
  }
}

/** Connects, greets, logs in if there are credentials, and quits. Undefined: all of it was accepted. */
export async function checkSmtpAccess(url: string, signal: AbortSignal): Promise<EmailFailure | undefined> {
  const { options, credentials } = serverOf(new URL(url));
  const connection = new SMTPConnection(options);
  const { promise, resolve } = deferred<EmailFailure | undefined>();
  const onAbort = (): void => resolve(failure("aborted_before_send"));
  const settle = (error: unknown): void => resolve(error ? beforeContent(error) : undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  connection.on("error", (error: unknown) => resolve(beforeContent(error)));
  connection.on("end", () => resolve(beforeContent(undefined)));
  connection.connect((error) => {
    if (error || credentials === undefined) settle(error);
    else connection.login(credentials, settle);
  });
  try {
    const problem = await promise;
    if (problem === undefined) connection.quit();
    return problem;
  } finally {
    signal.removeEventListener("abort", onAbort);
    connection.close();
  }
}

/** The number at the beginning of a reply. */
function replyOf(response: string | undefined): string {
  return /^\d{3}/.exec(response ?? "")?.[0] ?? "sent";
}

interface SmtpError {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

function errorOf(error: unknown): SmtpError {
  return typeof error === "object" && error !== null ? error : {};
}

/** A reply says what happened to the mail; after anything else it is uncertain. */
function afterContent(error: unknown): EmailFailure {
  const { code, responseCode } = errorOf(error);
  if (typeof responseCode === "number" && responseCode >= 400 && responseCode <= 599) return refusal(error);
  return failure(code === "ETIMEDOUT" ? "timed_out" : "connection_lost");
}

/** The library's names for its own failures. Any other is a connection that could not be made. */
const codesByError: ReadonlyMap<unknown, EmailCodeName> = new Map([
  ["EDNS", "dns_failed"],
  ["ECONNREFUSED", "connect_refused"],
  ["ETLS", "tls_failed"],
  ["EAUTH", "auth_failed"],
  ["ENOAUTH", "auth_failed"],
  ["EENVELOPE", "address_invalid"],
  ["EMESSAGE", "message_too_large"],
  ["EPROTOCOL", "smtp_protocol"],
]);

/** The commands whose replies are about the mail; those before them are about us. */
const mailCommands: ReadonlySet<unknown> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

function beforeContent(error: unknown): EmailFailure {
  const { code, originalCode, command, responseCode } = errorOf(error);
  const replied = typeof responseCode === "number" && responseCode >= 400 && responseCode <= 599;
  if (replied && mailCommands.has(command)) return refusal(error);
  const known = codesByError.get(originalCode) ?? codesByError.get(code);
  if (known !== undefined) return failure(known, statusOf(error));
  return failure(replied ? "smtp_session" : "connect_failed", statusOf(error));
}

function refusal(error: unknown): EmailFailure {
  const { status = "" } = statusOf(error);
  // Some servers report a missing mailbox only after the content. There is only one recipient.
  if (isAboutRecipient(status, errorOf(error).command === "RCPT TO")) return failure("recipient_refused", { status });
  return failure(codeOfReply(Number(errorOf(error).responseCode)), statusOf(error));
}

/** The reply's number and its enhanced status, such as `550 5.7.1`: they quote nothing. */
function statusOf(error: unknown): { status?: string } {
  const { response } = errorOf(error);
  const status = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(typeof response === "string" ? response : "")?.[0];
  return status === undefined ? {} : { status };
}
