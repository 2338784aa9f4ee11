/** The line between "nothing was sent" and "it may have arrived", and the guard on the addresses that are dialled. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { LookupAddress } from "node:dns";
import type { Server, Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { RailOutcome } from "../../../../src/contract/rail.ts";
import { createWebhookRail } from "../../../../src/rails/webhook/rail.ts";
import type { WebhookRail, WebhookRailOptions } from "../../../../src/rails/webhook/rail.ts";
import { createCertificate } from "../receiver/certificate.ts";
import { messageOf, notAborted } from "../messages.ts";
import { portOf, startReceiver } from "../receiver/receiver.ts";
import type { Receiver, ReceiverOptions } from "../receiver/receiver.ts";
import { loopbackRules, newSecret, unreachableUrl } from "./webhook-harness.ts";

const closers: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const secrets = [newSecret()];

async function receive(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver({ secrets, ...options });
  closers.push(() => receiver.close());
  return receiver;
}

function railTo(url: string, options: Partial<WebhookRailOptions> = {}): WebhookRail {
  const endpoint = { url, secrets };
  const rail = createWebhookRail({ ...loopbackRules, endpoint: () => Promise.resolve(endpoint), ...options });
  closers.push(() => rail.close());
  return rail;
}

async function sendTo(url: string, options: Partial<WebhookRailOptions> = {}): Promise<RailOutcome> {
  return await railTo(url, options).send(messageOf(), notAborted);
}

/** A server that does not speak HTTP; the test decides what to do with a connection. */
async function listen(onConnection: (socket: Socket) => void): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return server;
}

const at =
  (...addresses: readonly string[]): (() => Promise<LookupAddress[]>) =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: 4 })));

function unresolved(): Promise<never> {
  return Promise.reject(Object.assign(new Error("no name"), { code: "ENOTFOUND" }));
}

describe("nothing was sent", () => {
  test("when nobody listens", async () => {
    expect(await sendTo(unreachableUrl)).toMatchObject({ kind: "retry", code: "connect_refused" });
  });

  test("when the receiver stops listening, and it recovers when it listens again", async () => {
    const receiver = await receive();
    const rail = railTo(receiver.url);
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
    await receiver.refuse();
    // The kept connection may break only during this request, and then the outcome is unknown.
    expect(["retry", "unknown"]).toContain((await rail.send(messageOf(), notAborted)).kind);
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "retry", code: "connect_refused" });
    await receiver.listen();
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
    expect(receiver.book.requests).toHaveLength(2);
  });

  test("when the name is not known", async () => {
    expect(await sendTo("http://receiver.test/", { resolve: unresolved })).toMatchObject({
      kind: "retry",
      code: "dns_failed",
    });
    expect(await sendTo("http://receiver.test/", { resolve: at() })).toMatchObject({
      kind: "retry",
      code: "dns_failed",
    });
  });

  test("when the time runs out while the name is being resolved", async () => {
    const asked = Promise.withResolvers<void>();
    const resolve = (): Promise<never> => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const clock = new AbortController();
    const outcome = railTo("http://receiver.test/", { resolve }).send(messageOf(), { signal: clock.signal });
    await asked.promise;
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "retry", code: "aborted_before_send" });
  });

  test("when the time runs out during the TLS handshake", async () => {
    const arrived = Promise.withResolvers<void>();
    const server = await listen(() => arrived.resolve());
    const clock = new AbortController();
    const outcome = railTo(`https://127.0.0.1:${portOf(server)}/`).send(messageOf(), { signal: clock.signal });
    await arrived.promise;
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "retry", code: "aborted_before_send" });
  });

  test("when the receiver hangs up during the TLS handshake", async () => {
    const server = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect(await sendTo(`https://127.0.0.1:${portOf(server)}/`)).toMatchObject({ kind: "retry", code: "tls_failed" });
  });

  test("when the receiver does not speak TLS", async () => {
    const receiver = await receive();
    const outcome = await sendTo(receiver.url.replace("http:", "https:"));
    expect(outcome).toMatchObject({ kind: "retry", code: "tls_failed" });
    expect(receiver.book.requests).toEqual([]);
  });

  test("when the certificate is not trusted", async () => {
    const tls = createCertificate();
    const receiver = await receive({ tls });
    expect(await sendTo(receiver.url)).toMatchObject({ kind: "retry", code: "tls_failed" });
    expect(receiver.book.requests).toEqual([]);
  });

  test("when the certificate is for another name", async () => {
    const tls = createCertificate("receiver.test");
    const receiver = await receive({ tls });
    const options = { ca: tls.cert, resolve: at("127.0.0.1") };
    const outcome = await sendTo(`https://other.test:${receiver.port}/`, options);
    expect(outcome).toMatchObject({ kind: "retry", code: "tls_failed" });
    expect(receiver.book.requests).toEqual([]);
  });
});

describe("over TLS", () => {
  test("a trusted receiver gets the request by its name, and the connection is used again", async () => {
    const tls = createCertificate("receiver.test");
    const receiver = await receive({ tls });
    const rail = railTo(`https://receiver.test:${receiver.port}/hook`, {
      ca: tls.cert,
      resolve: at("127.0.0.1"),
      allowHttp: false,
    });
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
    }
    expect(receiver.book.stats()).toMatchObject({ effects: 3, invalidSignatures: 0 });
    expect(receiver.book.requests[0]?.headers?.host).toBe(`receiver.test:${receiver.port}`);
    expect(new Set(receiver.book.requests.map(({ connection }) => connection)).size).toBe(1);
  });

  test("an answer that never comes leaves the outcome open", async () => {
    const tls = createCertificate();
    const receiver = await receive({ tls, faults: { queue: [{ kind: "hang" }] } });
    const message = messageOf();
    const clock = new AbortController();
    const outcome = railTo(receiver.url, { ca: tls.cert }).send(message, { signal: clock.signal });
    await receiver.received(message.outboxId);
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "unknown", code: "timed_out" });
  });
});

describe("it may have arrived", () => {
  test("when the answer stops and the time runs out", async () => {
    const answering = Promise.withResolvers<void>();
    const server = await listen((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", () => answering.resolve()),
      ),
    );
    const clock = new AbortController();
    const outcome = railTo(`http://127.0.0.1:${portOf(server)}/`).send(messageOf(), { signal: clock.signal });
    await answering.promise;
    clock.abort();
    expect(await outcome).toMatchObject({ kind: "unknown", code: "timed_out" });
  });

  test("when a kept connection is closed under the next request", async () => {
    let requests = 0;
    const server = await listen((socket) =>
      socket.on("data", () => {
        requests += 1;
        if (requests === 1) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
        else socket.resetAndDestroy();
      }),
    );
    const rail = railTo(`http://127.0.0.1:${portOf(server)}/`);
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
    expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "unknown", code: "connection_lost" });
    expect(requests).toBe(2);
  });

  test("when the answer's headers never end", async () => {
    const server = await listen((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const more = (): boolean => socket.writable && socket.write(`x-filler: ${"x".repeat(1_000)}\r\n`, more);
        more();
      }),
    );
    expect(await sendTo(`http://127.0.0.1:${portOf(server)}/`)).toMatchObject({ kind: "unknown", code: "bad_answer" });
  });
});

describe("the guard on addresses", () => {
  test("blocks private addresses that were not allowed", async () => {
    const receiver = await receive();
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "127.1",
      "[::ffff:127.0.0.1]",
      "localhost",
    ]) {
      const outcome = await sendTo(`http://${host}:${receiver.port}/`, { allowPrivate: [] });
      expect(outcome, host).toMatchObject({ kind: "rejected", code: "blocked_address" });
    }
    expect(receiver.book.requests).toEqual([]);
  });

  test("dials the address that it checked, and does not resolve again", async () => {
    const receiver = await receive();
    let asked = 0;
    // A name that changes its address, as in a rebinding attack: only the first answer may ever be used.
    const resolve = (): Promise<LookupAddress[]> => {
      asked += 1;
      return at(asked === 1 ? "127.0.0.1" : "10.0.0.1")();
    };
    expect(await sendTo(`http://receiver.test:${receiver.port}/`, { resolve })).toMatchObject({ kind: "delivered" });
    expect(asked).toBe(1);
  });

  test("refuses a name with one private address, although another could be called", async () => {
    const receiver = await receive();
    for (const addresses of [
      ["127.0.0.1", "10.0.0.1"],
      ["10.0.0.1", "127.0.0.1"],
    ]) {
      const outcome = await sendTo(`http://receiver.test:${receiver.port}/`, { resolve: at(...addresses) });
      expect(outcome).toMatchObject({ kind: "rejected", code: "blocked_address" });
    }
    expect(receiver.book.requests).toEqual([]);
  });

  test("does not reveal what a name resolves to", async () => {
    const outcome = await sendTo("http://receiver.test/", { resolve: at("10.20.30.40") });
    expect(JSON.stringify(outcome)).not.toContain("10.20");
  });
});

test("a rail can be closed while it keeps a connection, and used again", async () => {
  const receiver = await receive();
  const rail = railTo(receiver.url);
  expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
  rail.close();
  expect(await rail.send(messageOf(), notAborted)).toMatchObject({ kind: "delivered" });
});
