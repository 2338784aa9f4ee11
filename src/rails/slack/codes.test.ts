import { describe, expect, test } from "vitest";
import { codeOfStatus, codeOfWord, isThrottling, slackCodes, slackInteractionCodes } from "./codes.ts";

describe("Slack's words", () => {
  test.each([
    ["ratelimited", "retry"],
    ["invalid_auth", "retry"],
    ["missing_scope", "retry"],
    ["service_unavailable", "retry"],
    ["channel_not_found", "rejected"],
    ["msg_too_long", "rejected"],
    ["expired_trigger_id", "rejected"],
    ["internal_error", "unknown"],
    ["fatal_error", "unknown"],
  ] as const)("%s means %s", (word, outcome) => {
    expect(codeOfWord(word)).toBe(word);
    expect(slackCodes[codeOfWord(word)].outcome).toBe(outcome);
  });

  test.each(["", "toString", "__proto__", "http_5xx", "timed_out", "channel_not_found "])(
    "%j is no word of Slack's that we know, whatever our own codes are called",
    (word) => {
      expect(codeOfWord(word)).toBe("slack_error");
    },
  );
});

test("by status a failing server is told from a wrong address, whichever way it fails", () => {
  expect([200, 301, 404, 429, 500, 502, 503, 504].map(codeOfStatus)).toEqual([
    "http_other",
    "http_other",
    "http_other",
    "http_429",
    "http_5xx",
    "http_5xx",
    "http_5xx",
    "http_5xx",
  ]);
});

test("a destination is left in peace after Slack asked for it, and after nothing else", () => {
  const quiet = Object.keys(slackCodes).filter((code) => isThrottling(codeOfWord(code)) || code === "http_429");
  expect(quiet).toEqual(["ratelimited", "rate_limited", "message_limit_exceeded", "http_429"]);
});

test("an answer to a click differs from a message in one code only", () => {
  const differing = Object.entries(slackInteractionCodes).filter(
    ([code, { outcome }]) => outcome !== new Map(Object.entries(slackCodes)).get(code)?.outcome,
  );
  expect(differing.map(([code]) => code)).toEqual(["http_5xx"]);
});
