import { describe, expect, test } from "vitest";
import { codeOfError, codeOfStatus, linearCodes } from "./codes.ts";
import { untilReset } from "./graphql.ts";

const now = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number): string => String(now.getTime() + seconds * 1000);

describe("how long Linear's limits last", () => {
  test("waits until the last limit that is used up is reset", () => {
    expect(
      untilReset(
        {
          "x-ratelimit-requests-remaining": "0",
          "x-ratelimit-requests-reset": at(20),
          "x-ratelimit-complexity-remaining": "0",
          "x-ratelimit-complexity-reset": at(40),
          "x-ratelimit-endpoint-requests-remaining": "3",
          "x-ratelimit-endpoint-requests-reset": at(400),
        },
        now,
      ),
    ).toBe(40_000);
  });

  test("is measured by Linear's clock, is never negative, and never longer than a day", () => {
    const used = { "x-ratelimit-requests-remaining": "0" };
    const date = "Thu, 01 Jan 2026 00:00:10 GMT";
    expect(untilReset({ ...used, date, "x-ratelimit-requests-reset": at(25) }, now)).toBe(15_000);
    expect(untilReset({ ...used, "x-ratelimit-requests-reset": at(-5) }, now)).toBe(0);
    expect(untilReset({ ...used, "x-ratelimit-requests-reset": at(1e6) }, now)).toBe(86_400_000);
  });

  test("is not known without numbers", () => {
    expect(untilReset({}, now)).toBeUndefined();
    expect(untilReset({ "x-ratelimit-requests-remaining": "0" }, now)).toBeUndefined();
    const nonsense = { "x-ratelimit-requests-remaining": "0", "x-ratelimit-requests-reset": "soon" };
    expect(untilReset(nonsense, now)).toBeUndefined();
  });
});

test("an error's code comes before its type, and what is on no list is a refusal", () => {
  expect(codeOfError("RATELIMITED", "invalid input")).toBe("ratelimited");
  expect(codeOfError(undefined, "authentication error")).toBe("not_authenticated");
  expect(codeOfError("SOMETHING_NEW", "lock timeout")).toBe("lock_timeout");
  expect(codeOfError("toString", undefined)).toBe("linear_error");
  expect(linearCodes[codeOfError(undefined, undefined)].outcome).toBe("rejected");
});

test("a status speaks only where the body says nothing", () => {
  expect([400, 401, 403, 404, 429, 500, 502, 503].map(codeOfStatus)).toEqual([
    "http_other",
    "not_authenticated",
    "forbidden",
    "http_other",
    "ratelimited",
    "http_5xx",
    "http_5xx",
    "http_5xx",
  ]);
});
