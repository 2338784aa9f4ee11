/**
 * The worst that a client can send to a route, of any size: bodies of each kind, addresses and headers; without a credential, with a fake
 * one, and with the one that the route requires.
 *
 * Owns: the inputs. A test measures their cost (test/integration/http/cost.test.ts), the part `hostile` their cost to others.
 */
import { createHmac, sign as signBytes, type KeyObject } from "node:crypto";
import type { RouteEntry } from "../../src/http/route.ts";

export type Make = (size: number) => string;

export function repeated(unit: string): Make {
  return (size) => unit.repeat(Math.max(1, Math.floor(size / unit.length)));
}

/** As many object members, each with its own name, as fit. */
function members(size: number): string {
  const names = Array.from({ length: Math.max(1, Math.floor(size / 9)) }, (_, place) =>
    place.toString(36).padStart(4, "k"),
  );
  return `{${names.map((name) => `"${name}":0`).join(",")}}`;
}

const form = "application/x-www-form-urlencoded";

export const worstBodies: Readonly<Record<string, readonly [type: string, make: Make]>> = {
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

/** Contents of the address, whose size is bounded. */
export const worstAddresses: Readonly<Record<string, Make>> = {
  "fields in the address": (size) => `?${repeated("a&")(size)}`,
  "conditions in the address": (size) => `?${repeated("a=eq.1&")(size)}`,
  "columns in the address": (size) => `?select=${repeated("a,")(size)}id&order=${repeated("id,")(size)}id`,
  "brackets in the address": (size) => `?or=${repeated("(and(")(size)}`,
  "a pattern in the address": (size) => `?id=match.${repeated("(a*)*")(size)}`,
  "pluses in the address": (size) => `?id=${repeated("+")(size)}`,
};

/** Every header that our code reads. */
export const readHeaders = [
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
] as const;

export const credentialHeaders = [
  "apikey",
  "authorization",
  "x-outbox-secret",
  "x-slack-signature",
  "linear-signature",
  "stripe-signature",
  "x-hub-signature-256",
  "x-postal-signature-256",
  "x-headroom-signature",
] as const;

export const worstHeaderUnits = ["a,", ";", "headroom_session=a;", "t=1,v1=", "a.b.c", "- -", "Bearer "] as const;

/** The whole head. */
export const maxHeadBytes = 16_384;

/** Real names and ids, so that nothing is refused as not found. */
const there: Readonly<Record<string, string>> = {
  ":function": "create_capacity_request",
  ":relation": "capacity_requests",
  ":workspace": "acme",
  ":token": "t".repeat(64),
  ":step": "1",
};

export function pathOf(route: RouteEntry): string {
  return route.path.replaceAll(/:[a-zA-Z]+/g, (name) => there[name] ?? "x");
}

/** The signing keys of an installation's providers. */
export const webhookSecrets = {
  SLACK_SIGNING_SECRET: "8f742231b10e8888abcd99yyyzzz85a5",
  LINEAR_WEBHOOK_SECRET: "l".repeat(40),
  STRIPE_WEBHOOK_SECRET: `whsec_${"s".repeat(32)}`,
  GITHUB_WEBHOOK_SECRET: "g".repeat(40),
} as const;

const stamp = (): string => String(Math.floor(Date.now() / 1000));
const hmac = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

export type Headers = Readonly<Record<string, string>>;
export type Signer = (body: string) => Headers;

/** The headers with which each provider signs a body. */
export function signersWith(postal: KeyObject): Readonly<Record<string, Signer>> {
  return {
    "/webhooks/slack": (body) => ({
      "x-slack-request-timestamp": stamp(),
      "x-slack-signature": `v0=${hmac(webhookSecrets.SLACK_SIGNING_SECRET, `v0:${stamp()}:${body}`)}`,
    }),
    "/webhooks/linear": (body) => ({ "linear-signature": hmac(webhookSecrets.LINEAR_WEBHOOK_SECRET, body) }),
    "/webhooks/github": (body) => ({
      "x-hub-signature-256": `sha256=${hmac(webhookSecrets.GITHUB_WEBHOOK_SECRET, body)}`,
    }),
    "/webhooks/stripe": (body) => ({
      "stripe-signature": `t=${stamp()},v1=${hmac(webhookSecrets.STRIPE_WEBHOOK_SECRET, `${stamp()}.${body}`)}`,
    }),
    "/webhooks/postal": (body) => ({
      "x-postal-signature-256": signBytes("sha256", Buffer.from(body), postal).toString("base64"),
    }),
    // The secret belongs to the workspace that the body names, and bodies here name none.
    "/webhooks/provisioning": (body) => ({
      "x-headroom-timestamp": stamp(),
      "x-headroom-signature": `v1=${hmac("none", `v1:${stamp()}:${body}`)}`,
    }),
  };
}

export interface CredentialSource {
  readonly anonKey: string;
  readonly serviceKey: string;
  readonly memberToken: string;
  readonly relaySecret: string;
  readonly signers: Readonly<Record<string, Signer>>;
}

/** No credential; a fake one; and the one that the route requires. */
export function credentialsFor(route: RouteEntry, source: CredentialSource): Readonly<Record<string, Signer>> {
  const none = { nothing: () => ({}) };
  if (route.credentials === "none") return none;
  const member = { authorization: `Bearer ${source.memberToken}` };
  const signer = source.signers[route.path];
  const valid: Record<Exclude<RouteEntry["credentials"], "none">, Signer> = {
    apikey: () => ({ apikey: source.anonKey, ...member }),
    member: () => member,
    service: () => ({ authorization: `Bearer ${source.serviceKey}` }),
    "relay-secret": () => ({ "x-outbox-secret": source.relaySecret }),
    signature: (body) => signer?.(body) ?? {},
  };
  const forged = (): Headers => ({
    apikey: "a.b.c",
    authorization: "Bearer a.b.c",
    "x-outbox-secret": "x",
    ...signer?.("something else"),
  });
  return { ...none, "a forged credential": forged, "its credential": valid[route.credentials] };
}
