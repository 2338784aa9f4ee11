import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOfStatus, githubActionsCodes } from "./codes.ts";
import { dispatchSchema, inputsOf, names } from "./message.ts";

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
  const dispatch = dispatchSchema.parse({
    owner: "acme",
    repo: "infra",
    workflow: 17,
    ref: "refs/heads/main",
    job_id: "job-7",
    inputs: { count: 2, fast: true, size: "32XL" },
  });
  expect(inputsOf(dispatch)).toEqual({ count: "2", fast: "true", size: "32XL", job_id: "job-7" });
});

test("every failure of GitHub's servers leaves the outcome open", () => {
  const codes = Array.from({ length: 100 }, (_none, at) => codeOfStatus(500 + at, false));
  expect(new Set(codes.map((code) => githubActionsCodes[code].outcome))).toEqual(new Set(["unknown"]));
  expect(codeOfStatus(403, false)).toBe("http_403");
  expect(codeOfStatus(403, true)).toBe("ratelimited");
});
