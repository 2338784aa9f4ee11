/**
 * The process of an attacker: sends the worst inputs to one route, in turn, on several connections, each request as soon as the one
 * before is answered; or asks for long lists and never reads them. Bounded in time.
 */
import { createPrivateKey } from "node:crypto";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { constants, getPriority, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "../../src/http/app.ts";
import { createGatewayDatabase } from "../../src/http/database/gateway-database.ts";
import { defaultBodyBytes } from "../../src/http/request/body.ts";
import type { RouteEntry } from "../../src/http/route.ts";
import { nowMs, round } from "../measure.ts";
import { attackerAddress, BEGUN, type Attack, type AttackOutcome } from "./protocol.ts";
import {
  credentialHeaders,
  credentialsFor,
  maxHeadBytes,
  pathOf,
  readHeaders,
  repeated,
  signersWith,
  worstAddresses,
  worstBodies,
  worstHeaderUnits,
  type Signer,
} from "./worst-input.ts";

/** The server's routes; this application never gets a request. */
export function routesOfServer(): readonly RouteEntry[] {
  const unused = "not used, but as long as a secret must be";
  const database = createGatewayDatabase({ url: "postgresql://127.0.0.1/nothing" });
  const keys = { jwtSecret: unused, anonKey: unused, serviceKey: unused };
  return createApp({ database, keys, publicUrl: "http://127.0.0.1", log: () => undefined }).routes;
}

interface Shot {
  readonly what: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers leave room for the request line and the credential. */
const roomForOthers = 4_096;

/** Each is signed when it is sent. */
function* shotsAt(route: RouteEntry, whose: string, credential: Signer): Generator<() => Shot> {
  const path = pathOf(route);
  for (const [what, make] of Object.entries(worstAddresses)) {
    yield () => ({ what, path: path + make(maxHeadBytes - roomForOthers), headers: credential(""), body: "" });
  }
  const names = whose === "nothing" ? [...readHeaders, ...credentialHeaders] : readHeaders;
  for (const unit of worstHeaderUnits) {
    const value = repeated(unit)((maxHeadBytes - roomForOthers) / names.length);
    const headers = Object.fromEntries(names.map((name) => [name, value]));
    yield () => ({ what: `headers of ${unit}`, path, headers: { ...headers, ...credential("") }, body: "" });
  }
  if (route.methods.includes("GET")) return;
  for (const [what, [type, make]] of Object.entries(worstBodies)) {
    const body = make((route.limits?.bodyBytes ?? defaultBodyBytes) - 64);
    yield () => ({ what, path, headers: { "content-type": type, ...credential(body) }, body });
  }
}

async function shoot(attack: Attack, { method, path }: { method: string; path: string }): Promise<AttackOutcome> {
  const route = routesOfServer().find((one) => one.path === path && one.methods.some((name) => name === method));
  const { anonKey, serviceKey, memberToken, relaySecret, postalKey } = attack.credentials;
  const signers = signersWith(createPrivateKey(postalKey));
  const sources = { anonKey, serviceKey, memberToken, relaySecret, signers };
  const credential = route === undefined ? undefined : credentialsFor(route, sources)[attack.whose];
  if (route === undefined || credential === undefined) throw new Error(`no ${attack.whose} for ${method} ${path}`);
  const shots = [...shotsAt(route, attack.whose, credential)];
  const agent = new Agent({ keepAlive: true, maxSockets: attack.connections, localAddress: attackerAddress });
  const { hostname, port } = new URL(attack.url);
  const statuses: Record<string, number> = {};
  let [requests, longestMs, worst] = [0, 0, ""];
  const fire = ({ what, path: target, headers, body }: Shot): Promise<void> =>
    new Promise((resolve) => {
      const sentAt = nowMs();
      const ended = (status: string): void => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        requests += 1;
        if (nowMs() - sentAt > longestMs) [longestMs, worst] = [nowMs() - sentAt, what];
        resolve();
      };
      const sent = request({ agent, hostname, port, method, path: target, headers });
      sent.on("error", () => ended("cut"));
      sent.on("response", (response) => {
        // An event stream has no end to wait for.
        if (response.headers["content-type"]?.startsWith("text/event-stream") === true) sent.destroy();
        response.on("error", () => undefined).on("close", () => ended(String(response.statusCode)));
        response.resume();
      });
      sent.end(body);
    });
  process.stdout.write(`${BEGUN}\n`);
  const until = nowMs() + attack.seconds * 1_000;
  let next = 0;
  const loop = async (): Promise<void> => {
    while (nowMs() < until) {
      const make = shots[next++ % shots.length];
      if (make !== undefined) await fire(make());
    }
  };
  await Promise.all(Array.from({ length: attack.connections }, loop));
  agent.destroy();
  return { requests, longestMs: round(longestMs, 1), worst, statuses };
}

/** Each connection asks for a long list and reads nothing of the answer. */
async function neverRead({ url, connections, seconds, credentials }: Attack): Promise<AttackOutcome> {
  const { hostname, port } = new URL(url);
  const head = [
    "GET /rest/v1/capacity_requests?limit=1000 HTTP/1.1",
    `host: ${hostname}:${port}`,
    `apikey: ${credentials.anonKey}`,
    `authorization: Bearer ${credentials.memberToken}`,
  ];
  const text = `${head.join("\r\n")}\r\n\r\n`;
  process.stdout.write(`${BEGUN}\n`);
  const open: Socket[] = [];
  let cut = 0;
  for (let n = 0; n < connections; n += 1) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: attackerAddress });
    socket.on("error", () => undefined).once("close", () => (cut += 1));
    // Several requests, so that the answers do not fit the kernel's buffers.
    socket.pause();
    socket.write(text.repeat(4));
    open.push(socket);
    if (n % 50 === 49) await sleep(5);
  }
  await sleep(seconds * 1_000);
  for (const socket of open) socket.destroy();
  return { requests: connections, longestMs: 0, worst: "", statuses: { cut } };
}

if (process.argv[1] === import.meta.filename) {
  // Real attackers have their own machines; this one gets what the server and the others leave of the shared machine.
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + constants.priority.PRIORITY_LOW));
  const attack: Attack = JSON.parse(process.argv[2] ?? "{}");
  const outcome = attack.target === "slow readers" ? await neverRead(attack) : await shoot(attack, attack.target);
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  process.exit(0);
}
