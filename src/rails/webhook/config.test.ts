import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseWebhookEndpoint, webhookFields, webhookFieldTable } from "./config.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const good = { url: "https://example.com/hook", secrets: [secret] };

describe("an endpoint", () => {
  test("with a URL and a secret is enough", () => {
    expect(parseWebhookEndpoint(good)).toEqual({ ok: true, endpoint: good });
  });

  test("may have headers of its own", () => {
    const endpoint = { ...good, headers: { Authorization: "Bearer abc", "X-Tenant": "7" } };
    expect(parseWebhookEndpoint(endpoint)).toEqual({ ok: true, endpoint });
  });

  test.each([
    ["is missing", null, "settings: "],
    ["has no URL", { secrets: [secret] }, "url: "],
    ["has an empty URL", { ...good, url: "" }, "url: must not be empty"],
    ["has no secret", { ...good, secrets: [] }, "secrets: at least one secret"],
    ["has too many secrets", { ...good, secrets: Array(5).fill(secret) }, "secrets: at most 4 secrets"],
    ["has a bad secret", { ...good, secrets: [secret, "hunter2"] }, "secrets.1: a secret must start with whsec_"],
    [
      "sets the signature itself",
      { ...good, headers: { "Webhook-Signature": "v1,x" } },
      "webhook-signature is set by the rail",
    ],
    ["sets the length itself", { ...good, headers: { "content-length": "3" } }, "content-length is set by the rail"],
    ["splits a header", { ...good, headers: { "x-a": "b\r\nhost: evil" } }, "printable ASCII only"],
    ["has a header with a blank in its name", { ...good, headers: { "x a": "b" } }, "headers.x a"],
    ["has a header twice", { ...good, headers: { "x-a": "1", "X-A": "2" } }, "a header is there twice"],
  ])("that %s is refused", (_title, settings, reason) => {
    expect(parseWebhookEndpoint(settings)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test("is refused without repeating any value", () => {
    const settings = { url: 7, secrets: ["hunter2"], headers: { authorization: "Bearer hunter2\n" } };
    const verdict = parseWebhookEndpoint(settings);
    expect(verdict.ok).toBe(false);
    expect(JSON.stringify(verdict)).not.toContain("hunter2");
  });
});

describe("the reference of an endpoint's settings", () => {
  test("has a row for each field, with its help", () => {
    const table = webhookFieldTable();
    for (const { name, help } of webhookFields) {
      expect(table).toContain(`| \`${name}\` |`);
      expect(table).toContain(help);
    }
  });

  test("says of the secrets that they are secret and required", () => {
    expect(webhookFieldTable()).toContain("| `secrets` | yes | yes |");
  });
});
