/**
 * What every port does with bytes that are not a valid request: it refuses or hangs up, and serves the next one. Written byte by byte,
 * because no client would send them.
 */
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { startMetricsServer } from "../../../src/cli/relay/metrics-server.ts";
import { openListener } from "../../../src/web/listener.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { rawRequest } from "../../helpers/raw-http.ts";
import { setStage } from "../sandbox/harness.ts";
import { startTestGateway } from "./harness.ts";

const db = await createTestDatabase();

/** Everything that comes back until the server hangs up. `half` closes our side after the last byte. */
async function sayTo(url: string, bytes: string | Buffer, half = false): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  let heard = "";
  socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
  // A reset is also a way to hang up.
  socket.on("error", () => undefined);
  const closed = new Promise<void>((fulfil, reject) => {
    socket.once("end", fulfil).once("close", fulfil);
    setTimeout(() => reject(new Error(`Neither answered nor closed: ${String(bytes).slice(0, 60)}`)), 10_000).unref();
  });
  socket.write(bytes);
  if (half) socket.end();
  try {
    await closed;
    return heard;
  } finally {
    socket.destroy();
  }
}

const statuses = (heard: string): number[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));

const ending = "\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
const targets = [
  "//",
  "//[",
  "*",
  "http://",
  "http://[",
  "http://[::1",
  "http://user:pass@/",
  "https://127.0.0.1:99999/",
  "ftp://127.0.0.1/",
  "evil.example:443",
  "?",
  "#",
  "/\\evil.example",
  "/%",
  "/%zz",
  "/%00",
  "/%ff%fe",
  "/..%2f..%2f..%2fetc/passwd",
  `/${"a".repeat(100_000)}`,
  `/?${"a=1&".repeat(25_000)}`,
];

/** What is sent, and whether we close our side afterwards. */
const utterances: readonly (readonly [what: string, bytes: string | Buffer, half?: boolean])[] = [
  ...targets.map((target) => [`GET ${target.slice(0, 40)}`, `GET ${target} HTTP/1.1${ending}`] as const),
  ["CONNECT", `CONNECT evil.example:443 HTTP/1.1${ending}`],
  ["an unknown method", `BREW /healthz HTTP/1.1${ending}`],
  ["a method of 100 kB", `${"G".repeat(100_000)} / HTTP/1.1${ending}`],
  ["OPTIONS *", `OPTIONS * HTTP/1.1${ending}`],
  ["a null byte in the target", `GET /\0 HTTP/1.1${ending}`],
  ["a null byte in a header", `GET /nowhere HTTP/1.1\r\nx: \0${ending}`],
  ["bytes that are no text", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x0d, 0x0a])],
  ["no host", "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n"],
  ["an invalid host", "GET /healthz HTTP/1.1\r\nhost: [\r\nconnection: close\r\n\r\n"],
  ["an unknown version", `GET /healthz HTTP/9.9${ending}`],
  ["a header of 100 kB", `GET /healthz HTTP/1.1\r\nx: ${"x".repeat(100_000)}${ending}`],
  ["20,000 headers", `GET /healthz HTTP/1.1\r\n${"x: 1\r\n".repeat(20_000)}${ending}`],
  ["two lengths", `POST /healthz HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2${ending}`],
  ["a length and chunks", `POST /nowhere HTTP/1.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked${ending}`],
  ["chunks that are none", `POST /nowhere HTTP/1.1\r\ntransfer-encoding: chunked${ending}zzz\r\n`],
  ["half a request line", "GET /heal", true],
  ["half a header", "GET /healthz HTTP/1.1\r\nhost: 127.0", true],
  ["half a body", "POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\nhalf", true],
];

async function expectToSurvive(url: string, alive: string): Promise<void> {
  const port = new URL(url).port;
  for (const [what, bytes, half] of utterances) {
    const answers = statuses(await sayTo(url, bytes, half));
    expect([what, answers.filter((status) => status < 400 || status > 499)]).toEqual([what, []]);
    const next = await rawRequest(url, alive, [`host: 127.0.0.1:${port}`]);
    expect([what, next.status]).toEqual([what, 200]);
  }
  const whole = `GET ${alive} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  const piped = statuses(await sayTo(url, `${whole.repeat(20)}GET // HTTP/9.9\r\n\r\n`));
  expect(piped.filter((status) => status !== 200).every((status) => status >= 400 && status <= 499)).toBe(true);
  expect((await rawRequest(url, alive, [`host: 127.0.0.1:${port}`])).status).toBe(200);
}

describe("whatever is sent to it, it refuses or hangs up, and serves the next request:", () => {
  test("the server", async () => {
    await using gateway = await startTestGateway(db);
    await expectToSurvive(gateway.url, "/healthz");
  });

  test("the sandbox", async () => {
    await using stage = await setStage();
    await expectToSurvive(stage.sandbox.url, "/slack");
  });

  test("a relay's metrics", async () => {
    const metrics = await startMetricsServer({
      host: "127.0.0.1",
      port: 0,
      metrics: () => Promise.resolve(""),
      problem: () => Promise.resolve(null),
    });
    await expectToSurvive(metrics.url, "/healthz");
    await metrics.close();
  });

  test("the sandbox's mail", async () => {
    await using stage = await setStage();
    for (const [, bytes] of utterances) await sayTo(stage.sandbox.smtpUrl, bytes, true);
    expect(await sayTo(stage.sandbox.smtpUrl, "QUIT\r\n")).toMatch(/^(220|421) sandbox/);
  });
});

const listener = (answer: () => Response | Promise<Response>, timeoutMs?: number) =>
  openListener({
    host: "127.0.0.1",
    port: 0,
    fetch: answer,
    headersTimeoutMs: timeoutMs,
    requestTimeoutMs: timeoutMs,
  });

describe("a listener", () => {
  test("ends connections whose request never finishes", async () => {
    const open = await listener(() => new Response("ok\n"), 100);
    expect(statuses(await sayTo(open.url, "GET / HTTP/1.1\r\nhost: 127"))).toEqual([408]);
    expect((await rawRequest(open.url, "/", ["host: 127.0.0.1"])).status).toBe(200);
    await open.close();
  });

  test("survives a failing handler", async () => {
    const failures: (() => Response | Promise<Response>)[] = [
      () => Promise.reject(new Error("late")),
      () => {
        throw new Error("at once");
      },
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.error(new Error("on the way")),
          }),
        ),
      // @ts-expect-error -- TypeScript does not allow it, but it can happen
      () => undefined,
    ];
    for (const failure of failures) {
      let calls = 0;
      const open = await listener(() => ((calls += 1) === 1 ? failure() : new Response("ok\n")));
      const heard = statuses(await sayTo(open.url, `GET / HTTP/1.1${ending}`));
      expect(heard.every((status) => status >= 500 || status === 200)).toBe(true);
      expect((await rawRequest(open.url, "/", ["host: 127.0.0.1"])).status).toBe(200);
      await open.close();
    }
  });

  test("says which process holds its port", async () => {
    const open = await listener(() => new Response("ok\n"));
    await expect(
      openListener({ host: "127.0.0.1", port: open.port, fetch: () => new Response(""), purpose: "metrics" }),
    ).rejects.toMatchObject({ code: "port_in_use", message: expect.stringContaining("for metrics") });
    await open.close();
  });
});
