/**
 * The workflow script has its own table of what a status or an error proves, because it is one file without dependencies. It must agree
 * with the rails' table.
 */
import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asksForQuiet, codeOfAnyStatus, statusCodes } from "../../../src/rails/exchange-codes.ts";
import { exchange, openConnections } from "../../../src/rails/exchange.ts";
import { parseRetryAfter } from "../../../src/rails/retry-after.ts";
import { scriptParts, type ScriptParts } from "./script-parts.ts";

/** For a call that is never answered; others have all the time that the script gives them. */
const shortMs = 400;
let script: ScriptParts;
let hasty: ScriptParts;
let server: HttpServer;
/** The server's answer to the status that the path names. */
let body: (status: number) => string = () => "";

beforeAll(async () => {
  script = await scriptParts();
  hasty = await scriptParts({ HEADROOM_CALL_TIMEOUT_MS: String(shortMs) });
  server = createHttpServer((request, response) => {
    const status = Number(request.url?.slice(1));
    request.resume().on("end", () => response.writeHead(status).end([204, 304].includes(status) ? "" : body(status)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const portOf = (of: Server | HttpServer): number => (of.address() as AddressInfo).port;
const says = (url: string, parts = script): ReturnType<ScriptParts["post"]> =>
  parts.post(new URL(url), "a secret", { signal: "succeeded" });

/** The rails' rule: 408, 425 and 429 are temporary, a failing server proves nothing, and a redirect or a refusal is certain. */
function railsOutcome(status: number): string | undefined {
  const known = codeOfAnyStatus(status);
  if (known !== undefined) return statusCodes[known].outcome;
  if (asksForQuiet(status, undefined)) return "retry";
  return status >= 300 && status <= 499 ? "rejected" : undefined;
}

/** The platform turns it into an error: no proxy is used here. */
const untold = 407;
const statuses = Array.from({ length: 500 }, (_none, at) => 100 + at);

describe("what a status proves", () => {
  test("is the same for the script as for the rails, from 100 to 599", () => {
    expect(statuses.map((status) => [status, script.outcomeOfStatus(status)])).toEqual(
      statuses.map((status) => [status, railsOutcome(status)]),
    );
  });

  test("with a body that is not Headroom's proves nothing, whatever the status, and the report is repeated", async () => {
    body = () => "<h1>Please wait</h1>";
    for (const status of statuses.slice(100).filter((each) => each !== untold)) {
      const heard = await says(`http://127.0.0.1:${portOf(server)}/${status}`);
      expect({ ...heard, afterMs: undefined }).toEqual({ problem: `HTTP ${status}`, afterMs: undefined });
    }
  });

  test("is final with Headroom's own problem where the rails call it rejected, and only there", async () => {
    body = (status) =>
      JSON.stringify({ type: "urn:headroom:problem:not_found", code: "not_found", title: "No.", status });
    for (const status of statuses.slice(100).filter((each) => each !== untold)) {
      const { code } = await says(`http://127.0.0.1:${portOf(server)}/${status}`);
      // A 304 has no body.
      const isRejected = railsOutcome(status) === "rejected" && status !== 304;
      expect([status, code]).toEqual([status, isRejected ? "not_found" : undefined]);
    }
  });
});

/** Once the whole call has arrived, or the rest of it would be answered by a reset. */
const whenHeard = (then: (socket: Socket) => void) => (socket: Socket) => {
  socket.on("data", (part) => void (part.toString().endsWith("}") && then(socket)));
};
async function codes(url: string, isHasty = false): Promise<{ script: string | undefined; rails: string }> {
  const connections = openConnections();
  const request = { url: new URL(url), headers: {}, body: Buffer.from("{}"), maxResponseBytes: 1_000 };
  const [heard, came] = await Promise.all([
    says(url, isHasty ? hasty : script),
    exchange(request, connections, AbortSignal.timeout(isHasty ? shortMs : script.callTimeoutMs)),
  ]);
  connections.close();
  return { script: heard.problem, rails: came.kind === "answer" ? `answer ${came.status}` : came.code };
}

describe("a network error", () => {
  const misbehaving: Readonly<Record<string, (socket: Socket) => void>> = {
    connection_lost: whenHeard((socket) => socket.resetAndDestroy()),
    "connection_lost, without a reset": whenHeard((socket) => socket.end()),
    "connection_lost, within the body": whenHeard((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"go_on": false'),
    ),
    bad_answer: whenHeard((socket) => socket.end("Who are you?\r\n\r\n")),
    timed_out: whenHeard(() => undefined),
  };

  test.each(Object.entries(misbehaving))("has the same name: %s", async (name, misbehave) => {
    const sockets = new Set<Socket>();
    const bad = createServer((socket) => {
      sockets.add(socket.on("error", () => undefined));
      misbehave(socket);
    });
    bad.listen(0, "127.0.0.1");
    await once(bad, "listening");
    const code = name.replace(/,.*/, "");
    expect(await codes(`http://127.0.0.1:${portOf(bad)}/`, code === "timed_out")).toEqual({
      script: code,
      rails: code,
    });
    for (const socket of sockets) socket.destroy();
    bad.close();
    await once(bad, "close");
  });

  test("has the same name where no connection is made", async () => {
    const closed = createServer();
    closed.listen(0, "127.0.0.1");
    await once(closed, "listening");
    const port = portOf(closed);
    closed.close();
    await once(closed, "close");
    const refused = { script: "connect_refused", rails: "connect_refused" };
    expect(await codes(`http://127.0.0.1:${port}/`)).toEqual(refused);
    const untrusted = { script: "tls_failed", rails: "tls_failed" };
    expect(await codes(`https://127.0.0.1:${portOf(server)}/200`)).toEqual(untrusted);
  });
});

describe("a request for a pause", () => {
  const date = "Thu, 19 Nov 2026 12:00:00 GMT";
  test.each(["0", "1", "7", " 12 ", "100000", "Thu, 19 Nov 2026 12:00:20 GMT", "-5", "soon", "1.5", "2027", ""])(
    "of %j is read as the rails read it, from 1 second to 60",
    (asked) => {
      const askedMs = parseRetryAfter(asked, date, new Date(date));
      const bounded = Math.min(Math.max(askedMs ?? 0, 1_000), 60_000);
      const headers = new Headers({ "retry-after": asked, date });
      expect(script.quietOf(429, headers)).toBe(bounded);
      expect(script.quietOf(503, headers)).toBe(askedMs === undefined ? undefined : bounded);
      expect(script.quietOf(500, headers)).toBeUndefined();
    },
  );
});
