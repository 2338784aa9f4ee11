import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOfStatus, githubActionsCodes } from "./codes.ts";
import { githubMessageSchema, inputsOf, names, type Dispatch } from "./message.ts";

describe("a run's name", () => {
  test.each([
    ["Provision job-7", true],
    ["job-7", true],
    ["Provision (job-7)", true],
    ["Provision job-7: 32XL", true],
    ["Provision job-77", false],
    ["Provision xjob-7", false],
    ["Provision job-7-b", false],
    ["job-77 and then job-7", true],
    ["", false],
  ])("%j shows the job job-7: %s", (title, shown) => {
    expect(names(title, "job-7")).toBe(shown);
  });

  test.each([
    ["Provision job-7/1", "job-7/1", true],
    ["Provision job-7/12", "job-7/1", false],
    ["Clean up job-7/cleanup-1", "job-7/1", false],
    ["Clean up job-7/cleanup-1", "job-7/cleanup-1", true],
    ["Clean up job-7/cleanup-10", "job-7/cleanup-1", false],
    ["Provision job-7/1", "job-7", true],
  ])("%j shows the mark %j: %s", (title, mark, shown) => {
    expect(names(title, mark)).toBe(shown);
  });

  test("with the id among other words shows it, whatever the words are", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(word, fc.uuid(), word, (before, id, after) => {
        expect(names(`${before} ${id} ${after}`, id)).toBe(true);
        expect(names(`${before}${id} ${after}`, id)).toBe(false);
      }),
    );
  });
});

test("inputs become texts, the job's id among them", () => {
  const dispatch = githubMessageSchema.parse({
    owner: "acme",
    repo: "infra",
    workflow: 17,
    ref: "refs/heads/main",
    job_id: "job-7",
    inputs: { count: 2, fast: true, size: "32XL" },
  });
  expect(inputsOf(dispatch as Dispatch)).toEqual({ count: "2", fast: "true", size: "32XL", job_id: "job-7" });
});

const place = { owner: "acme", repo: "infra", workflow: "provision.yml" };
const runs = { ...place, run_mark: "job-7/1", since: "2026-01-01T00:00:00.123456+00:00" };

test.each([
  ["a dispatch, which need not say so", { ...place, ref: "main", job_id: "job-7" }, true],
  ["a dispatch with a mark", { ...place, ref: "main", job_id: "job-7", run_mark: "job-7/1" }, true],
  ["a dispatch with another job's mark", { ...place, ref: "main", job_id: "job-7", run_mark: "job-8/1" }, false],
  ["a dispatch with a mark that no name shows", { ...place, ref: "main", job_id: "job-7", run_mark: "job-7 1" }, false],
  ["a stop", { operation: "stop", ...runs }, true],
  ["a stop without a mark", { operation: "stop", ...runs, run_mark: undefined }, false],
  ["a stop since no time", { operation: "stop", ...runs, since: "yesterday" }, false],
  ["a stop since a time without its offset", { operation: "stop", ...runs, since: "2026-01-01T00:00:00" }, false],
  ["a watch", { operation: "watch", ...runs }, true],
  ["a watch of one run", { operation: "watch", ...runs, run_id: 9_000_000_001 }, true],
  ["a watch of no run", { operation: "watch", ...runs, run_id: 0 }, false],
  ["an unknown operation", { operation: "delete", ...runs }, false],
  ["nothing", null, false],
])("%s is read as it should be", (_what, payload, good) => {
  expect(githubMessageSchema.safeParse(payload).success).toBe(good);
});

test("every failure of GitHub's servers leaves the outcome open", () => {
  const codes = Array.from({ length: 100 }, (_none, at) => codeOfStatus(500 + at, false));
  expect(new Set(codes.map((code) => githubActionsCodes[code].outcome))).toEqual(new Set(["unknown"]));
  expect(codeOfStatus(403, false)).toBe("http_403");
  expect(codeOfStatus(403, true)).toBe("ratelimited");
  expect(codeOfStatus(409, false)).toBe("http_409");
});
