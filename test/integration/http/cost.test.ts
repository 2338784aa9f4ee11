/**
 * What the worst input costs, of four times the size: for every route that there is, with and without the credential that it asks for, as a
 * body of each kind, and in whatever of the head is read. A parser whose time grows with the square of the size takes sixteen times as
 * long, so eight are allowed; what costs less than eight questions to the database, or eight empty requests to the same route, has no
 * parser to speak of.
 */
import { createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { RouteEntry } from "../../../src/http/route.ts";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { defaultBodyBytes } from "../../../src/http/request/body.ts";
import { startWorkflow } from "../capacity/workflow.ts";
import { memberToken, startTestGateway, storeWebhookSecrets, testSecretKey } from "./gateway.ts";

const workflow = await startWorkflow(18);
// The clock leaps, so that no rate limit keeps the requests from their handlers.
let clockMs = 1_800_000_000_000;
const gateway = await startTestGateway(workflow.db, {
  dependencies: { sandbox: true, now: () => (clockMs += 10_000) },
});
const { app, keys } = gateway;
const postal = generateKeyPairSync("rsa", { modulusLength: 2048 });
const member = { authorization: `Bearer ${await memberToken("rita")}` };

beforeAll(async () => {
  await storeWebhookSecrets(workflow.db);
  const control = await workflow.db.as("headroom_control").connect();
  const value = postal.publicKey.export({ type: "spki", format: "der" }).toString("base64");
  await setSecret(control, { name: "POSTAL_WEBHOOK_PUBLIC_KEY", value, key: testSecretKey });
  await control.end();
});

const allowed = 8;

type Make = (size: number) => string;

function repeated(unit: string): Make {
  return (size) => unit.repeat(Math.max(1, Math.floor(size / unit.length)));
}

/** As many members of an object, each with a name of its own, as have room. */
function members(size: number): string {
  const names = Array.from({ length: Math.max(1, Math.floor(size / 9)) }, (_, place) =>
    place.toString(36).padStart(4, "k"),
  );
  return `{${names.map((name) => `"${name}":0`).join(",")}}`;
}

const form = "application/x-www-form-urlencoded";
const bodies: Readonly<Record<string, readonly [type: string, make: Make]>> = {
  "fields without values": [form, repeated("a&")],
  fields: [form, repeated("a=1&")],
  separators: [form, repeated("&")],
  pluses: [form, repeated("+")],
  "encoded bytes": [form, repeated("%41")],
  "percent signs": [form, repeated("%")],
  brackets: ["application/json", repeated("[")],
  lists: ["application/json", (size) => `[${repeated("[],")(size)}0]`],
  "members of one name": ["application/json", (size) => `{${repeated('"a":0,')(size)}"a":0}`],
  "members of many names": ["application/json", members],
  "an escaped string": ["application/json", (size) => `{"a":"${repeated("\\u0041")(size)}"}`],
  digits: ["application/json", (size) => `{"a":${repeated("1")(size)}}`],
  text: ["text/plain", repeated("x\n")],
  boundaries: ["multipart/form-data; boundary=x", repeated("--x\r\n")],
};

/** What stands in the head, whose size is bounded: the address, and every header that something of ours reads. */
const readHeaders = [
  "accept",
  "accept-language",
  "accept-profile",
  "content-type",
  "cookie",
  "last-event-id",
  "origin",
  "prefer",
  "range",
  "sec-fetch-site",
  "x-forwarded-for",
  "x-request-id",
  "x-headroom-timestamp",
];
const credentialHeaders = [
  "apikey",
  "authorization",
  "x-outbox-secret",
  "x-slack-signature",
  "linear-signature",
  "stripe-signature",
  "x-hub-signature-256",
  "x-postal-signature-256",
  "x-headroom-signature",
];
const heads: Readonly<Record<string, Make>> = {
  "fields in the address": (size) => `?${repeated("a&")(size)}`,
  "conditions in the address": (size) => `?${repeated("a=eq.1&")(size)}`,
  "columns in the address": (size) => `?select=${repeated("a,")(size)}id&order=${repeated("id,")(size)}id`,
  "brackets in the address": (size) => `?or=${repeated("(and(")(size)}`,
  "a pattern in the address": (size) => `?id=match.${repeated("(a*)*")(size)}`,
  "pluses in the address": (size) => `?id=${repeated("+")(size)}`,
};
const headerUnits = ["a,", ";", "headroom_session=a;", "t=1,v1=", "a.b.c", "- -", "Bearer "];

/** What there really is, so that nothing is refused for not being there. */
const there: Readonly<Record<string, string>> = {
  ":function": "create_capacity_request",
  ":relation": "capacity_requests",
  ":workspace": "acme",
  ":token": "t".repeat(64),
  ":step": "1",
};

function addressOf(route: RouteEntry, more = ""): string {
  return `http://127.0.0.1${route.path.replaceAll(/:[a-zA-Z]+/g, (name) => there[name] ?? "x")}${more}`;
}

const stamp = (): string => String(Math.floor(Date.now() / 1000));
const hmac = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

/** The headers with which each provider signs a body. */
const signatures: Readonly<Record<string, (body: string) => Record<string, string>>> = {
  "/webhooks/slack": (body) => ({
    "x-slack-request-timestamp": stamp(),
    "x-slack-signature": `v0=${hmac("8f742231b10e8888abcd99yyyzzz85a5", `v0:${stamp()}:${body}`)}`,
  }),
  "/webhooks/linear": (body) => ({ "linear-signature": hmac("l".repeat(40), body) }),
  "/webhooks/github": (body) => ({ "x-hub-signature-256": `sha256=${hmac("g".repeat(40), body)}` }),
  "/webhooks/stripe": (body) => ({
    "stripe-signature": `t=${stamp()},v1=${hmac(`whsec_${"s".repeat(32)}`, `${stamp()}.${body}`)}`,
  }),
  "/webhooks/postal": (body) => ({
    "x-postal-signature-256": signBytes("sha256", Buffer.from(body), postal.privateKey).toString("base64"),
  }),
  // The secret is the workspace's that the body names, and what is measured here names none.
  "/webhooks/provisioning": (body) => ({
    "x-headroom-timestamp": stamp(),
    "x-headroom-signature": `v1=${hmac("none", `v1:${stamp()}:${body}`)}`,
  }),
};

/** Nothing; what only looks like a credential; and the one that the route asks for. */
function credentialsFor(route: RouteEntry): Readonly<Record<string, (body: string) => Record<string, string>>> {
  const forged = (): Record<string, string> => ({
    apikey: "a.b.c",
    authorization: "Bearer a.b.c",
    "x-outbox-secret": "x",
    ...signatures[route.path]?.("something else"),
  });
  const valid: Record<RouteEntry["credentials"], (body: string) => Record<string, string>> = {
    none: () => ({}),
    apikey: () => ({ apikey: keys.anonKey, ...member }),
    member: () => member,
    service: () => ({ authorization: `Bearer ${keys.serviceKey}` }),
    "relay-secret": () => ({ "x-outbox-secret": "the-relay-secret-of-all-the-tests" }),
    signature: (body) => signatures[route.path]?.(body) ?? {},
  };
  const none = { nothing: () => ({}) };
  return route.credentials === "none"
    ? none
    : { ...none, "a forged credential": forged, "its credential": valid[route.credentials] };
}

async function timeOf(request: () => Request): Promise<number> {
  const sent = request();
  const startedAt = performance.now();
  const answer = await app.fetch(sent);
  // A stream of events has no end to wait for.
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") === true) await answer.body?.cancel();
  else await answer.arrayBuffer();
  return performance.now() - startedAt;
}

/** How long is asked again whether it really takes that long: what else the machine does adds to a long request more often than to a short one. */
const doubtMs = 20_000;

/** Of the least times. */
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

const maxHeadBytes = 16_384;

/** What it takes to ask the database anything. */
async function question(): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 5; turn += 1) {
    least = Math.min(least, await timeOf(() => new Request("http://127.0.0.1/readyz")));
  }
  return least;
}

describe("four times the worst input costs no more than eight times as much", () => {
  for (const route of app.routes) {
    for (const method of route.methods) {
      for (const [whose, credential] of Object.entries(credentialsFor(route))) {
        it(`${method} ${route.path} with ${whose}`, async () => {
          const found: Record<string, number> = {};
          const floor = await question();
          const measure = async (what: string, largest: number, request: (size: number) => Request): Promise<void> => {
            const growth = await growthOf(request, largest, floor);
            if (growth > allowed) found[what] = growth;
          };
          for (const [what, make] of Object.entries(heads)) {
            await measure(
              what,
              maxHeadBytes,
              (size) => new Request(addressOf(route, make(size)), { method, headers: credential("") }),
            );
          }
          for (const unit of headerUnits) {
            const names = whose === "nothing" ? [...readHeaders, ...credentialHeaders] : readHeaders;
            await measure(`headers of ${unit}`, maxHeadBytes, (size) => {
              const value = repeated(unit)(size / names.length);
              const headers = { ...Object.fromEntries(names.map((name) => [name, value])), ...credential("") };
              return new Request(addressOf(route), { method, headers });
            });
          }
          if (method !== "GET") {
            for (const [what, [type, make]] of Object.entries(bodies)) {
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
  expect(signed.filter((path) => signatures[path] === undefined)).toEqual([]);
});
