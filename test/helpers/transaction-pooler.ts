/**
 * A transaction pooler, like PgBouncer and Supavisor in transaction mode: each transaction of a client goes to any free
 * server session, so no session state survives from one to the next.
 *
 * Harsher than the real ones, to make tests certain: the session that was idle longest is used next, so a client
 * that is alone still changes sessions with every transaction. Like them, it refuses unknown startup parameters.
 */
import { createServer, type Socket } from "node:net";
import { Client } from "pg";

export interface TransactionPooler {
  /** The target's URL with the pooler's address. */
  readonly url: string;
  stop(): Promise<void>;
}

interface ServerSession {
  readonly client: Client;
  readonly stream: Socket;
  /** Gets the server's messages; undefined while nobody uses the session. */
  receiver: ((message: Buffer) => void) | undefined;
}

const sslRequestCode = 80877103;
const cancelRequestCode = 80877102;

/** Calls back with every whole message. Those of a start-up have no type byte. */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  typed: boolean;
  readonly #onMessage: (message: Buffer) => void;

  constructor(typed: boolean, onMessage: (message: Buffer) => void) {
    this.typed = typed;
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const offset = this.typed ? 1 : 0;
      if (this.#rest.length < offset + 4) return;
      const size = offset + this.#rest.readUInt32BE(offset);
      if (this.#rest.length < size) return;
      const received = this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
      this.#onMessage(received);
    }
  }
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** The answer to a client's startup message. The process id is invented, as in real poolers. */
const welcome = Buffer.concat([
  message("R", int32(0)),
  message("S", Buffer.from("server_version\0pooled\0")),
  message("S", Buffer.from("client_encoding\0UTF8\0")),
  message("K", int32(1), int32(1)),
  message("Z", Buffer.from("I")),
]);

/** The parameters that PgBouncer accepts by default (ignore_startup_parameters). */
const knownParameters = new Set([
  "user",
  "database",
  "application_name",
  "client_encoding",
  "datestyle",
  "timezone",
  "standard_conforming_strings",
]);

function startUpParameters(received: Buffer): string[] {
  const texts = received.toString("utf8", 8).split("\0");
  return texts.filter((text, index) => index % 2 === 0 && text !== "").map((name) => name.toLowerCase());
}

function fatal(sqlState: string, text: string): Buffer {
  return message("E", Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`));
}

async function openSession(url: string): Promise<ServerSession> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  // The driver has logged in; from here on the clients' bytes are relayed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver has it, its types leave it out
  const { stream } = (client as Client & { readonly connection: { readonly stream: Socket } }).connection;
  stream.removeAllListeners("data");
  stream.setNoDelay(true);
  const session: ServerSession = { client, stream, receiver: undefined };
  const reader = new MessageReader(true, (received) => session.receiver?.(received));
  stream.on("data", (chunk: Buffer) => reader.push(chunk));
  return session;
}

/** Returns the session that was idle longest, or waits for one. */
class SessionPool {
  readonly #idle: ServerSession[];
  readonly #waiting: ((session: ServerSession) => void)[] = [];

  constructor(sessions: readonly ServerSession[]) {
    this.#idle = [...sessions];
  }

  async take(): Promise<ServerSession> {
    const session = this.#idle.shift();
    return session ?? new Promise((fulfil) => this.#waiting.push(fulfil));
  }

  giveBack(session: ServerSession): void {
    session.receiver = undefined;
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(session);
    else next(session);
  }
}

function serveClient(socket: Socket, pool: SessionPool): void {
  let session: ServerSession | undefined;
  let taking: Promise<ServerSession> | undefined;
  /** Queries and Syncs that the server has not answered with ReadyForQuery yet. */
  let unanswered = 0;
  let inTransaction = false;

  const onServerMessage = (received: Buffer): void => {
    socket.write(received);
    if (received[0] !== 0x5a) return;
    unanswered -= 1;
    inTransaction = received.toString("latin1", 5, 6) !== "I";
    if (unanswered > 0 || inTransaction || session === undefined) return;
    pool.giveBack(session);
    session = undefined;
    taking = undefined;
  };
  const forward = async (received: Buffer): Promise<void> => {
    if (received[0] === 0x51 || received[0] === 0x53) unanswered += 1;
    taking ??= pool.take();
    session = await taking;
    session.receiver = onServerMessage;
    session.stream.write(received);
  };
  /** A client that leaves inside a transaction must not leave it to the next one. */
  const leave = (): void => {
    const abandoned = session;
    session = undefined;
    if (abandoned === undefined) return;
    abandoned.receiver = (received) => {
      if (received[0] === 0x5a && received.toString("latin1", 5, 6) === "I") pool.giveBack(abandoned);
    };
    abandoned.stream.write(message("Q", Buffer.from("rollback\0")));
  };

  const reader = new MessageReader(false, (received) => {
    if (reader.typed) {
      if (received[0] === 0x58) socket.end();
      else void forward(received);
      return;
    }
    const code = received.readInt32BE(4);
    if (code === sslRequestCode) {
      socket.write("N");
    } else if (code === cancelRequestCode) {
      socket.end();
    } else {
      const refused = startUpParameters(received).find((name) => !knownParameters.has(name));
      if (refused !== undefined) {
        socket.end(fatal("08P01", `unsupported startup parameter: ${refused}`));
        return;
      }
      reader.typed = true;
      socket.write(welcome);
    }
  });
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.on("error", () => socket.destroy());
  socket.on("close", leave);
}

/** Starts a pooler in front of the server of the URL, logging in there as the URL says. */
export async function startTransactionPooler(targetUrl: string, sessions = 3): Promise<TransactionPooler> {
  const opened = await Promise.all(Array.from({ length: sessions }, () => openSession(targetUrl)));
  const pool = new SessionPool(opened);
  const clients = new Set<Socket>();
  // Messages are passed on one by one; waiting to fill a packet would add forty milliseconds to each.
  const server = createServer({ noDelay: true }, (socket) => {
    clients.add(socket);
    socket.once("close", () => clients.delete(socket));
    serveClient(socket, pool);
  });
  await new Promise<void>((fulfil) => server.listen(0, "127.0.0.1", fulfil));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The pooler has no port.");
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.toString(),
    async stop() {
      for (const socket of clients) socket.destroy();
      await new Promise<void>((fulfil) => server.close(() => fulfil()));
      const gone = opened.map(
        (session) => new Promise<void>((fulfil) => session.stream.once("close", () => fulfil()).end(message("X"))),
      );
      await Promise.all(gone);
    },
  };
}
