/**
 * How long others wait while one client attacks. Two members, one of the attacker's workspace and one of another, each request a list
 * twenty times a second; meanwhile an attacker sends each route the worst inputs, without a credential and with the required one. There are
 * pauses between the attacks, so that a slow minute of the machine affects both. Attacks on a bare server show the cost of sharing one
 * machine.
 */
import { generateKeyPairSync } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { openGatewayLogin } from "../../src/db/gateway-login.ts";
import { migrate } from "../../src/db/migrate.ts";
import { setSecret } from "../../src/db/secrets/index.ts";
import { copyRequest, prepareWorkspace, submitDelivered } from "../approvals.ts";
import { routesOfServer } from "../hostile/attacker.ts";
import { BEGUN, type Attack, type AttackOutcome } from "../hostile/protocol.ts";
import { Victims } from "../hostile/victims.ts";
import { webhookSecrets } from "../hostile/worst-input.ts";
import { percentile, round } from "../measure.ts";
import { memberClaims, startServe, tokenFor, type ServeProcess } from "../serve-process.ts";
import type { Suite } from "./suite.ts";

const BARE_SERVER = fileURLToPath(new URL("../hostile/bare-server.ts", import.meta.url));
const ATTACKER = fileURLToPath(new URL("../hostile/attacker.ts", import.meta.url));
const PASSWORD = "for-this-run-only";
const SECRET_KEY = "a-key-of-thirty-two-bytes-or-more-for-load";
const RELAY_SECRET = "a-secret-for-the-relay-of-this-run-only";
const REQUESTS = 300;
const SLOW_READERS = 1_000;
/** Long enough for the server to cut them. */
const SLOW_SECONDS = 8;
/** The last requests may still be read and answered when an attack has ended. */
const SETTLE_MS = 500;
/** One of this many attacks also targets a bare server. */
const BESIDE_EVERY = 4;

async function prepare(url: string, postalKey: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await prepareWorkspace(client);
    await client.query("insert into directory.workspaces (id, name) values ('elsewhere', 'Elsewhere')");
    await client.query(
      "insert into directory.members (workspace_id, id, display_name, roles) values ('elsewhere', 'eve', 'Eve', '{requester}')",
    );
    const secrets = { ...webhookSecrets, POSTAL_WEBHOOK_PUBLIC_KEY: postalKey };
    for (const [name, value] of Object.entries(secrets)) await setSecret(client, { name, value, key: SECRET_KEY });
    await copyRequest(client, await submitDelivered(client, url), REQUESTS);
    await client.query("vacuum analyze");
    return await openGatewayLogin(client, url, PASSWORD);
  } finally {
    await client.end();
  }
}

const memoryMb = (pid: number): number =>
  round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);

/** Calls `begun` when the attacker has started and prepared its input. */
async function runAttack(attack: Attack, begun: () => void): Promise<AttackOutcome> {
  const child = spawn(process.execPath, [ATTACKER, JSON.stringify(attack)], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === BEGUN) begun();
    else last = line;
  }
  await closed;
  const outcome: AttackOutcome = JSON.parse(last);
  return outcome;
}

/** `beside`: a server that does nothing is attacked, on the same machine. `provider`: a client that has a secret of the installation. */
const KINDS = ["idle", "beside", "unauthenticated", "member", "provider", "slow readers"] as const;
type Kind = (typeof KINDS)[number];

interface Assault {
  readonly kind: Exclude<Kind, "idle" | "beside">;
  readonly what: string;
  readonly target: Attack["target"];
  readonly whose: string;
  readonly connections: number;
}

/** One after the other: every route, then clients that never read. */
function* assaults(connections: number): Generator<Assault> {
  for (const { path, methods, credentials } of routesOfServer()) {
    for (const method of methods) {
      const target = { method, path };
      const what = `${method} ${path} on ${connections}`;
      yield { kind: "unauthenticated", what: `${what} with nothing`, target, whose: "nothing", connections };
      const whose = "its credential";
      if (credentials === "none") continue;
      const kind = credentials === "apikey" || credentials === "member" ? "member" : "provider";
      yield { kind, what: `${what} with ${whose}`, target, whose, connections };
    }
  }
  const what = `${SLOW_READERS} slow readers`;
  yield { kind: "slow readers", what, target: "slow readers", whose: "nothing", connections: SLOW_READERS };
}

async function credentialsOfAttacker(postalKey: string): Promise<Attack["credentials"]> {
  return {
    anonKey: await tokenFor({ role: "anon" }),
    serviceKey: await tokenFor({ role: "service_role" }),
    memberToken: await tokenFor(memberClaims("ida")),
    relaySecret: RELAY_SECRET,
    postalKey,
  };
}

async function openVictims(server: ServeProcess, apikey: string): Promise<Victims> {
  const claims = [memberClaims("bob"), memberClaims("eve", "elsewhere")];
  const tokens = await Promise.all(claims.map(tokenFor));
  return new Victims(
    server.url,
    tokens.map((token) => ({ apikey, authorization: `Bearer ${token}` })),
  );
}

export const hostileSuite: Suite = async ({ url, params, emit }) => {
  const seconds = params.number("seconds");
  const connections = params.number("connections");
  const postal = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const gatewayUrl = await prepare(url, postal.publicKey.export({ type: "spki", format: "der" }).toString("base64"));
  const server = await startServe(gatewayUrl, {
    HEADROOM_SECRET_KEY: SECRET_KEY,
    HEADROOM_RELAY_SECRET: RELAY_SECRET,
  });
  const credentials = await credentialsOfAttacker(
    postal.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  );
  const bare = spawn(process.execPath, [BARE_SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [bareUrl] = (await once(createInterface({ input: bare.stdout }), "line")) as [string];
  const victims = await openVictims(server, credentials.anonKey);
  const waited = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  const report = (measure: string, tookMs: readonly number[], details: Record<string, string | number>): void =>
    emit({
      measure: `hostile/${measure}`,
      who: "headroom",
      variant: "what two members wait for a list, p99",
      value: round(percentile(tookMs, 99), 1),
      unit: "ms",
      details: { p50Ms: round(percentile(tookMs, 50), 1), questions: tookMs.length, ...details },
    });
  let attacks = 0;
  let maxMemory = 0;
  const watch = setInterval(() => (maxMemory = Math.max(maxMemory, memoryMb(server.pid))), 100);
  victims.start();
  try {
    await sleep(2_000);
    const memoryBefore = memoryMb(server.pid);
    for (const { kind, what, ...assault } of assaults(connections)) {
      await sleep(SETTLE_MS);
      victims.take();
      await sleep(seconds * 500);
      waited.get("idle")?.push(...victims.take().tookMs);
      const length = assault.target === "slow readers" ? SLOW_SECONDS : seconds;
      const attack = { url: server.url.href, seconds: length, credentials, ...assault };
      const { requests, longestMs, worst, statuses } = await runAttack(attack, () => void victims.take());
      const { tookMs, refused } = victims.take();
      waited.get(kind)?.push(...tookMs);
      if (kind !== "slow readers" && (attacks += 1) % BESIDE_EVERY === 0) {
        await runAttack({ ...attack, url: bareUrl }, () => void victims.take());
        waited.get("beside")?.push(...victims.take().tookMs);
      }
      const answers = JSON.stringify(statuses);
      report(what, tookMs, { refused, memoryMb: memoryMb(server.pid), requests, longestMs, worst, answers });
    }
    for (const [kind, tookMs] of waited) report(`${kind}-${connections}`, tookMs, {});
    emit({
      measure: `hostile/memory-${connections}`,
      who: "headroom",
      variant: "the most that the server's process had",
      value: maxMemory,
      unit: "MB",
      details: { beforeMb: memoryBefore, afterMb: memoryMb(server.pid) },
    });
  } finally {
    clearInterval(watch);
    victims.stop();
    bare.kill();
    await server.stop();
  }
};
