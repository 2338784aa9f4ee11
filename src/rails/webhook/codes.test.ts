import { describe, expect, test } from "vitest";
import { codeOfStatus, webhookCodes } from "./codes.ts";

describe("every status", () => {
  test.each([
    [200, null],
    [204, null],
    [299, null],
    [300, "http_3xx"],
    [301, "http_3xx"],
    [308, "http_3xx"],
    [400, "http_4xx"],
    [404, "http_4xx"],
    [408, "http_408"],
    [410, "http_410"],
    [425, "http_425"],
    [429, "http_429"],
    [499, "http_4xx"],
    [500, "http_5xx"],
    [501, "http_5xx"],
    [503, "http_5xx"],
    [599, "http_5xx"],
    [0, "bad_answer"],
    [199, "bad_answer"],
    [600, "bad_answer"],
    [999, "bad_answer"],
  ])("%i has the code %s", (status, code) => {
    expect(codeOfStatus(status)).toBe(code);
  });

  test("means a retry for those that may pass, and a rejection for the other refusals", () => {
    const retried = Array.from({ length: 200 }, (_none, at) => 300 + at).filter((status) => {
      const code = codeOfStatus(status);
      return code !== null && webhookCodes[code].outcome === "retry";
    });
    expect(retried).toEqual([408, 425, 429]);
  });
});
