import { expect, test } from "vitest";
import { hmacSha256, isSameSecret, sha256 } from "./hash.ts";

test("digests are those of the standard's examples", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(sha256(new TextEncoder().encode("abc"), "base64")).toBe("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  // RFC 4231, test case 2.
  expect(hmacSha256("Jefe", "what do ya want for nothing?")).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});

test("secrets of any length can be compared, and only equal ones are the same", () => {
  expect(isSameSecret("", "")).toBe(true);
  expect(isSameSecret("secret", "secret")).toBe(true);
  expect(isSameSecret("secret", "secre")).toBe(false);
  expect(isSameSecret("secret", "Secret")).toBe(false);
});
