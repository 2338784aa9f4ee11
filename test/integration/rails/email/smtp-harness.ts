/**
 * The e-mail rail, connected to a mail server that fails on request, at the requested step of the protocol.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import PostalMime from "postal-mime";
import type { RailHarness, SandboxFault } from "../../../../src/contract/conformance/suite.ts";
import { createEmailRail } from "../../../../src/rails/email/rail.ts";
import type { EmailRail } from "../../../../src/rails/email/rail.ts";
import type { Json, Rail, RailMessage } from "../../../../src/contract/rail.ts";
import { messageOf } from "../messages.ts";

export const from = "Headroom <capacity@headroom.example>";
export const confirmationToken = randomBytes(48).toString("base64url");

export interface Mail {
  readonly raw: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly headers: readonly string[];
}

export interface MailServer {
  readonly url: string;
  readonly mails: Mail[];
  /** Who logged in, over any connection. */
  readonly logins: string[];
  /** How the next mail is treated. */
  next(fault: SandboxFault): void;
  release(): void;
  /** Subjects of all mails whose content was received. */
  readonly handedOver: string[];
  received(subject: string): Promise<void>;
  close(): Promise<void>;
}

/** The reply to the end of the content, overridden. */
type Reply = (error?: Error | null, message?: string) => void;

export async function startMailServer(): Promise<MailServer> {
  const mails: Mail[] = [];
  const handedOver: string[] = [];
  const logins: string[] = [];
  const events = new EventEmitter().setMaxListeners(0);
  const sockets = new Set<Socket>();
  let fault: SandboxFault | undefined;
  const take = (...kinds: readonly SandboxFault[]): SandboxFault | undefined => {
    if (fault === undefined || !kinds.includes(fault)) return undefined;
    const taken = fault;
    fault = undefined;
    return taken;
  };
  const accept = async (raw: string, socket: Socket, reply: Reply): Promise<void> => {
    const mail = await read(raw);
    handedOver.push(mail.subject);
    events.emit("mail");
    const met = take("refuse_echoing", "hang", "drop_after_accept", "close_mid_answer", "answer_late", "garbage");
    if (met === "refuse_echoing") return reply(refusal(554, `5.6.0 I do not like ${raw.replaceAll(/\s+/g, " ")}`));
    mails.push(mail);
    if (met === "hang") return;
    if (met === "answer_late") await once(events, "release");
    if (met === "drop_after_accept") return void socket.destroy();
    if (met === "close_mid_answer") return void socket.end("25");
    if (met === "garbage") return void socket.end("What mail?\r\n");
    reply(null, "2.0.0 taken over");
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    logger: false,
    onAuth({ username = "" }, _session, callback) {
      logins.push(username);
      callback(null, { user: username });
    },
    onRcptTo(_address, _session, callback) {
      const met = take("refuse", "fail");
      if (met === "refuse") return callback(refusal(550, "5.1.1 no such mailbox"));
      callback(met === "fail" ? refusal(451, "4.3.0 out of order") : null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const socket = [...sockets].find((each) => each.remotePort === session.remotePort);
        if (socket !== undefined) void accept(Buffer.concat(chunks).toString("utf8"), socket, callback);
      });
    },
  });
  server.on("error", () => undefined);
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    if (take("close_before_read") !== undefined) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const address = server.server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    handedOver,
    logins,
    next: (next) => void (fault = next),
    release: () => void events.emit("release"),
    async received(subject) {
      while (!handedOver.includes(subject)) await once(events, "mail");
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      const { promise, resolve } = Promise.withResolvers<undefined>();
      server.close(() => resolve(undefined));
      await promise;
    },
  };
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

export async function read(raw: string): Promise<Mail> {
  const mail = await PostalMime.parse(raw);
  return {
    raw,
    subject: mail.subject ?? "",
    text: mail.text ?? "",
    html: mail.html ?? "",
    messageId: mail.messageId ?? "",
    from: mail.from?.address ?? "",
    to: (mail.to ?? []).flatMap(({ address }) => (address === undefined ? [] : [address])),
    headers: mail.headers.map(({ key }) => key),
  };
}

/** A mail with a link in it, which is the harder case: its token must be found nowhere. */
export function letter(changes: Readonly<Record<string, Json>> = {}): Json {
  return {
    to: "buyer@acme.example",
    subject: randomUUID(),
    text: "Hello,\n\n{{confirmation_link}}\n",
    html: '<p>Hello,</p><p><a href="{{confirmation_link}}">Confirm or decline</a></p>',
    confirmation_token_id: randomUUID(),
    confirmation_base_url: "https://capacity.example",
    ...changes,
  };
}

function subjectOf({ payload }: RailMessage): string {
  const subject = typeof payload === "object" && payload !== null && !Array.isArray(payload) && payload["subject"];
  return typeof subject === "string" ? subject : "";
}

export const makeToken = (): Promise<string> => Promise.resolve(confirmationToken);

function railFor(url: string): EmailRail {
  return createEmailRail({ from, transport: { kind: "smtp", url }, confirmationToken: makeToken });
}

export async function openSmtpSandbox(): Promise<RailHarness> {
  const server = await startMailServer();
  const near = railFor(server.url);
  const far = railFor("smtp://127.0.0.1:1");
  let isUnreachable = false;
  const rail: Rail = {
    ...near,
    send(message, context) {
      const chosen = isUnreachable ? far : near;
      isUnreachable = false;
      return chosen.send(message, context);
    },
  };
  return {
    rail,
    throttleAfterMs: 0,
    secrets: [confirmationToken],
    message: () => messageOf(letter()),
    invalidMessages: () => invalidLetters.map((payload) => messageOf(payload)),
    next(fault) {
      if (fault === "unreachable") isUnreachable = true;
      else server.next(fault);
    },
    received: (message) => server.received(subjectOf(message)),
    release: () => server.release(),
    calls: (message) => server.handedOver.filter((subject) => subject === subjectOf(message)).length,
    effects: (message) => server.mails.filter(({ subject }) => subject === subjectOf(message)).length,
    async close() {
      near.close();
      far.close();
      await server.close();
    },
  };
}

export const invalidLetters: readonly Json[] = [
  null,
  {},
  letter({ to: "a@example.com, b@example.com" }),
  letter({ to: "a@example.com\r\nBcc: b@example.com" }),
  letter({ to: "Buyer <buyer@acme.example>" }),
  letter({ subject: "" }),
  letter({ confirmation_token_id: null }),
  letter({ confirmation_base_url: null }),
  letter({ confirmation_base_url: "javascript:alert(1)" }),
  letter({ text: "no link here", html: "<p>nor here</p>" }),
];
