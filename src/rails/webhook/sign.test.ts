import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { createSigner, secretProblem } from "./sign.ts";

const secretOf = (bytes: number): string => `whsec_${randomBytes(bytes).toString("base64")}`;

describe("a signature", () => {
  test("is what Standard Webhooks says, byte for byte", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = '{"test": 2432232314}';
    const at = new Date(1614265330 * 1000);
    const key = Buffer.from(secret.slice(6), "base64");
    const expected = createHmac("sha256", key).update(`msg_1.1614265330.${body}`).digest("base64");
    expect(createSigner([secret])("msg_1", at, body)).toEqual({
      "webhook-id": "msg_1",
      "webhook-timestamp": "1614265330",
      "webhook-signature": `v1,${expected}`,
    });
  });

  test("is made with every secret during a rotation, and each of them verifies", () => {
    const secrets = [secretOf(24), secretOf(64)];
    const body = JSON.stringify({ text: "grüße 😀 \u2028" });
    const headers = createSigner(secrets)("msg_1", new Date(), body);
    expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(secretOf(32)).verify(body, { ...headers })).toThrow("No matching signature");
  });

  test("keeps the id and changes the time from try to try", () => {
    const sign = createSigner([secretOf(32)]);
    const first = sign("msg_1", new Date(1_000_000), "{}");
    const second = sign("msg_1", new Date(2_000_000), "{}");
    expect(second["webhook-id"]).toBe(first["webhook-id"]);
    expect(second["webhook-timestamp"]).not.toBe(first["webhook-timestamp"]);
    expect(second["webhook-signature"]).not.toBe(first["webhook-signature"]);
  });
});

describe("a signing secret", () => {
  test.each([24, 32, 64])("of %i bytes can be used", (bytes) => {
    expect(secretProblem(secretOf(bytes))).toBeNull();
  });

  test.each([
    [secretOf(23), "must hold 24 to 64 bytes"],
    [secretOf(65), "must hold 24 to 64 bytes"],
    ["whsec_", "must hold 24 to 64 bytes"],
    [secretOf(32).slice(6), "must start with whsec_"],
    [`whsk_${randomBytes(32).toString("base64")}`, "must start with whsec_"],
    [`whsec_${"é".repeat(32)}`, "must be base64 after its prefix"],
    [`whsec_${randomBytes(32).toString("hex")}z`, "must be base64 after its prefix"],
  ])("like %s cannot", (secret, problem) => {
    expect(secretProblem(secret)).toBe(problem);
  });
});
