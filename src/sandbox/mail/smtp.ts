/**
 * An SMTP server that accepts whatever it is given and delivers it to the mailbox; or fails in the ways that mail servers do.
 *
 * Owns: the faults of the protocol. Does not own: the mailbox.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { HeadroomError, nodeCodeOf } from "../../db/errors.ts";
import type { FaultInput } from "../core/faults.ts";
import type { LoggedRequest } from "../core/request-log.ts";
import type { World } from "../core/world.ts";
import { neverWorks, readMail, type Mailbox } from "./mailbox.ts";
import { deferred } from "../../db/wait/deferred.ts";

export interface SmtpStandIn {
  readonly url: string;
  close(): Promise<void>;
}

type Reply = (error?: Error | null) => void;

const maxMailBytes = 2_000_000;

export async function startSmtp(world: World, mailbox: Mailbox, host: string, port: number): Promise<SmtpStandIn> {
  const sockets = new Map<number, Socket>();
  const handler = new SmtpHandler(world, mailbox, sockets);
  const server = new SMTPServer({
    name: "sandbox.headroom.example",
    banner: "Headroom sandbox",
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    logger: false,
    size: maxMailBytes,
    closeTimeout: 500,
    onAuth: (auth, _session, callback) => callback(null, { user: auth.username ?? "anybody" }),
    onConnect: (session, callback) => handler.step("CONNECT", session, undefined, callback),
    onRcptTo: (address, session, callback) => handler.step("RCPT", session, address.address, callback),
    onData: (stream, session, callback) => void handler.data(stream, session, callback),
  });
  // Clients may reset their connections.
  server.on("error", () => undefined);
  server.server.on("connection", (socket) => {
    const { remotePort } = socket;
    if (remotePort === undefined) return;
    sockets.set(remotePort, socket);
    socket.once("close", () => sockets.delete(remotePort));
  });
  const listening = once(server.server, "listening");
  server.listen(port, host);
  await listening.catch((cause: unknown) => {
    throw new HeadroomError("port_in_use", `Port ${port} on ${host} cannot be used for the sandbox's mail.`, {
      detail: nodeCodeOf(cause),
      hint: "Choose another; 0 takes any free one.",
      cause,
    });
  });
  const address = server.server.address();
  const actual = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `smtp://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    async close() {
      const { promise, resolve } = deferred<undefined>();
      server.close(() => resolve(undefined));
      for (const socket of sockets.values()) socket.destroy();
      await promise;
    },
  };
}

class SmtpHandler {
  readonly #world: World;
  readonly #mailbox: Mailbox;
  readonly #sockets: ReadonlyMap<number, Socket>;

  constructor(world: World, mailbox: Mailbox, sockets: ReadonlyMap<number, Socket>) {
    this.#world = world;
    this.#mailbox = mailbox;
    this.#sockets = sockets;
  }

  /** A step before the mail itself; it fails only when a fault names it. */
  step(method: string, session: SMTPServerSession, channel: string | undefined, reply: Reply): void {
    const call = { provider: "smtp", method, channel, onlyIfNamed: true } as const;
    const fault = this.#world.faults.draw(call);
    if (fault === undefined) return reply(channel !== undefined && neverWorks(channel) ? noMailbox() : null);
    const entry = this.#world.requests.record({ ...call, path: "smtp", body: undefined }, fault.kind);
    entry.effect = false;
    if (fault.kind.startsWith("drop") || fault.kind === "cutAnswer") return this.#cut(session);
    if (fault.kind.startsWith("hang")) return undefined;
    return reply(method === "RCPT" && fault.kind === "refuse" ? noMailbox() : refusalOf(fault, undefined));
  }

  async data(stream: SMTPServerDataStream, session: SMTPServerSession, reply: Reply): Promise<void> {
    try {
      await this.#take(stream, session, reply);
    } catch {
      // A client that disconnected in the middle of its mail does not get this; it has sent no mail.
      reply(said(451, "4.3.0 the mail could not be read"));
    }
  }

  async #take(stream: SMTPServerDataStream, session: SMTPServerSession, reply: Reply): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const to = session.envelope.rcptTo.map(({ address }) => address);
    const from = session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address;
    const mail = await readMail(raw, { from, to });
    const call = { provider: "smtp", method: "DATA", channel: to[0] } as const;
    const fault = this.#world.faults.draw(call);
    const body = { from: mail.from, to, subject: mail.subject, messageId: mail.messageId, text: mail.text };
    const entry = this.#world.requests.record({ ...call, path: "smtp", body }, fault?.kind);
    if (stream.sizeExceeded) return reply(said(552, "5.3.4 the mail is too large"));
    const accept = (): string => {
      entry.effect = true;
      return this.#mailbox.add(mail).id;
    };
    if (fault === undefined) {
      entry.status = 250;
      return accepted(reply, accept());
    }
    entry.effect = false;
    await this.#fail(fault, { session, reply, accept, entry, raw });
  }

  async #fail(fault: FaultInput, mail: FailingMail): Promise<void> {
    const { session, reply, accept, entry, raw } = mail;
    const refuse = (): void => {
      const error = refusalOf(fault, raw);
      entry.status = error.responseCode;
      reply(error);
    };
    switch (fault.kind) {
      case "dropBeforeAccept":
        return this.#cut(session);
      case "hangBeforeAccept":
        return this.#hold(session);
      case "hang":
        accept();
        return this.#hold(session);
      case "dropAfterAccept":
        accept();
        return this.#cut(session);
      case "cutAnswer":
        accept();
        this.#sockets.get(session.remotePort)?.end("25");
        return undefined;
      case "garbage":
        accept();
        this.#sockets.get(session.remotePort)?.end("what was the question?\r\n");
        return undefined;
      case "error500AfterAccept":
        accept();
        return refuse();
      case "late": {
        const id = accept();
        await this.#world.faults.hold(this.#gone(session), fault.ms);
        return accepted(reply, id);
      }
      default:
        return refuse();
    }
  }

  #cut(session: SMTPServerSession): void {
    this.#sockets.get(session.remotePort)?.destroy();
  }

  async #hold(session: SMTPServerSession): Promise<void> {
    await this.#world.faults.hold(this.#gone(session));
    this.#cut(session);
  }

  #gone(session: SMTPServerSession): AbortSignal {
    const gone = new AbortController();
    const socket = this.#sockets.get(session.remotePort);
    if (socket === undefined || socket.destroyed) gone.abort();
    socket?.once("close", () => gone.abort());
    return AbortSignal.any([gone.signal, this.#world.closing]);
  }
}

interface FailingMail {
  readonly session: SMTPServerSession;
  readonly reply: Reply;
  readonly accept: () => string;
  readonly entry: LoggedRequest;
  readonly raw: Buffer;
}

interface SmtpReply extends Error {
  responseCode: number;
}

function said(code: number, words: string): SmtpReply {
  return Object.assign(new Error(words), { responseCode: code });
}

/** The library takes the text of a good answer from the callback's second argument, which its type does not declare. */
function accepted(reply: (error?: Error | null, message?: string) => void, id: string): void {
  reply(null, `OK: queued as ${id}`);
}

function noMailbox(): SmtpReply {
  return said(550, "5.1.1 no such mailbox");
}

function refusalOf(fault: FaultInput, raw: Buffer | undefined): SmtpReply {
  switch (fault.kind) {
    case "rateLimit":
      return said(451, "4.7.1 too many messages, please try again later");
    case "refuse":
      return said(550, "5.7.1 refused on purpose");
    case "refuseEchoing":
      return said(550, `5.7.1 refused on purpose: ${(raw?.toString() ?? "").replaceAll(/\s+/g, " ").slice(0, 1500)}`);
    default:
      return said(451, "4.3.0 out of order");
  }
}
