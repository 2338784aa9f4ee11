import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setStage, type Stage } from "./harness.ts";

let stage: Stage;
const problems: string[] = [];

beforeAll(async () => {
  stage = await setStage({ log: (_, fields) => problems.push(JSON.stringify(fields)) });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const paths = [
  "/slack/api/chat.postMessage",
  "/slack/api/chat.update",
  "/slack/api/conversations.history",
  "/slack/api/views.open",
  "/slack/response/R1",
  "/slack/act/click",
  "/slack/act/write",
  "/slack/act/press",
  "/slack/act/submit",
  "/linear/graphql",
  "/linear/act/move",
  "/postal/api/v1/send/message",
  "/github/repos/a/b/actions/workflows/c.yml/dispatches",
  "/v1/checkout/sessions",
  "/v1/refunds",
  "/stripe/checkout/cs_1",
  "/v1/customers",
  "/v1/subscriptions/sub_1",
  "/v1/checkout/sessions/cs_1/expire",
  "/stripe/act",
  "/stripe/act/deliver",
  "/stripe/act/release",
  "/_control/stripe/release",
  "/github/act/outcome",
  "/github/act/plan",
  "/github/act/run",
  "/github/callbacks/1/x",
  "/mail/act/report",
  "/oidc/authorize",
  "/oidc/token",
  "/_control/faults",
  "/_faults/add",
] as const;

const names = fc.constantFrom(
  "channel",
  "ts",
  "text",
  "blocks",
  "view",
  "as",
  "press",
  "query",
  "variables",
  "to",
  "from",
  "ref",
  "mode",
  "line_items[0][quantity]",
  "a[b]",
  "kind",
  "client_id",
  "redirect_uri",
  "__proto__",
  "limit",
);
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.json({ maxDepth: 3 }),
  fc.constant("C0CAPACITY"),
  fc.constant("URILEY01"),
);
const formBody = fc
  .dictionary(names, words, { maxKeys: 8 })
  .map((fields) => ["application/x-www-form-urlencoded", new URLSearchParams(fields).toString()] as const);
const jsonBody = fc
  .dictionary(names, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 8 })
  .map((fields) => ["application/json", JSON.stringify(fields)] as const);
const rawBody = fc
  .tuple(
    fc.constantFrom("application/json", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain"),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([type, bytes]) => [type, Buffer.from(bytes)] as const);

test("random input is answered, and never with a failure of the sandbox itself", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), fc.oneof(formBody, jsonBody, rawBody), async (path, [type, body]) => {
      stage.sandbox.faults.clear();
      const response = await fetch(`${stage.sandbox.url}${path}`, {
        method: "POST",
        headers: { "content-type": type, authorization: "Bearer xoxb-sk_", "x-server-api-key": "k" },
        body,
        redirect: "manual",
      });
      const answer = await response.text();
      expect([path, response.status, response.status >= 500 ? answer : ""]).toEqual([path, expect.any(Number), ""]);
    }),
    { numRuns: 400 },
  );
  expect(problems).toEqual([]);
});
