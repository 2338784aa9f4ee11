/**
 * The cost of the worst input of four times the size: for every route, with and without the credential that it needs, as a body of each
 * kind, and in every part of the head that is read. A parser whose time grows with the square of the size takes sixteen times as long, so
 * eight times is allowed. A route that costs less than eight database queries, or eight empty requests, has no significant parser.
 */
import { generateKeyPairSync } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
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
  type CredentialSource,
} from "../../../bench/hostile/worst-input.ts";
import type { RouteEntry } from "../../../src/http/route.ts";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { defaultBodyBytes } from "../../../src/http/request/body.ts";
import { startWorkflow } from "../capacity/harness.ts";
import { memberToken, startTestGateway, storeWebhookSecrets, testSecretKey } from "./harness.ts";

const workflow = await startWorkflow(18);
// The clock leaps, so that no rate limit keeps the requests from their handlers.
let clockMs = 1_800_000_000_000;
const gateway = await startTestGateway(workflow.db, {
  dependencies: { sandbox: true, now: () => (clockMs += 10_000) },
});
const { app, keys } = gateway;
const postal = generateKeyPairSync("rsa", { modulusLength: 2048 });

beforeAll(async () => {
  await storeWebhookSecrets(workflow.db);
  const control = await workflow.db.as("headroom_control").connect();
  const value = postal.publicKey.export({ type: "spki", format: "der" }).toString("base64");
  await setSecret(control, { name: "POSTAL_WEBHOOK_PUBLIC_KEY", value, key: testSecretKey });
  await control.end();
});

const allowed = 8;

const sources: CredentialSource = {
  anonKey: keys.anonKey,
  serviceKey: keys.serviceKey,
  memberToken: await memberToken("rita"),
  relaySecret: "the-relay-secret-of-all-the-tests",
  signers: signersWith(postal.privateKey),
};

const addressOf = (route: RouteEntry, more = ""): string => `http://127.0.0.1${pathOf(route)}${more}`;

async function timeOf(request: () => Request): Promise<number> {
  const sent = request();
  const startedAt = performance.now();
  const answer = await app.fetch(sent);
  // A stream of events has no end to wait for.
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") === true) await answer.body?.cancel();
  else await answer.arrayBuffer();
  return performance.now() - startedAt;
}

/** How long it is measured again: other load on the machine slows a long request more often than a short one. */
const doubtMs = 20_000;

/** Computed from the shortest times. */
async function growthOf(request: (size: number) => Request, largest: number, floor: number): Promise<number> {
  const sizes = [1, largest / 4, largest];
  const least = sizes.map(() => Infinity);
  let growth = Infinity;
  const until = performance.now() + doubtMs;
  while (growth > allowed && performance.now() < until) {
    for (const [place, size] of sizes.entries()) {
      least[place] = Math.min(least[place] ?? Infinity, await timeOf(() => request(size)));
    }
    const [empty = 0, quarter = 0, whole = 0] = least;
    growth = whole / Math.max(empty, quarter, floor);
  }
  return growth;
}

/** The time of any database query. */
async function question(): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 5; turn += 1) {
    least = Math.min(least, await timeOf(() => new Request("http://127.0.0.1/readyz")));
  }
  return least;
}

describe("four times the worst input costs at most eight times as much", () => {
  for (const route of app.routes) {
    for (const method of route.methods) {
      for (const [whose, credential] of Object.entries(credentialsFor(route, sources))) {
        it(`${method} ${route.path} with ${whose}`, async () => {
          const found: Record<string, number> = {};
          const floor = await question();
          const measure = async (what: string, largest: number, request: (size: number) => Request): Promise<void> => {
            const growth = await growthOf(request, largest, floor);
            if (growth > allowed) found[what] = growth;
          };
          for (const [what, make] of Object.entries(worstAddresses)) {
            await measure(
              what,
              maxHeadBytes,
              (size) => new Request(addressOf(route, make(size)), { method, headers: credential("") }),
            );
          }
          for (const unit of worstHeaderUnits) {
            const names = whose === "nothing" ? [...readHeaders, ...credentialHeaders] : readHeaders;
            await measure(`headers of ${unit}`, maxHeadBytes, (size) => {
              const value = repeated(unit)(size / names.length);
              const headers = { ...Object.fromEntries(names.map((name) => [name, value])), ...credential("") };
              return new Request(addressOf(route), { method, headers });
            });
          }
          if (method !== "GET") {
            for (const [what, [type, make]] of Object.entries(worstBodies)) {
              await measure(what, route.limits?.bodyBytes ?? defaultBodyBytes, (size) => {
                const body = make(size - 64);
                const headers = { "content-type": type, "content-length": String(body.length), ...credential(body) };
                return new Request(addressOf(route), { method, body, headers });
              });
            }
          }
          expect(found).toEqual({});
        }, 240_000);
      }
    }
  }
});

it("every route that a provider signs is measured with its signature", () => {
  const signed = app.routes.filter(({ credentials }) => credentials === "signature").map(({ path }) => path);
  expect(signed.filter((path) => sources.signers[path] === undefined)).toEqual([]);
});
