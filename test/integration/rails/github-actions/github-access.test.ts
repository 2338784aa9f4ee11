/** What the doctor finds out about the repositories that workspaces have connected, without starting anything. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkGithubAccess, type ConnectedRepository } from "../../../../src/rails/github-actions/access-check.ts";
import type { AccessCheck } from "../../../../src/rails/access-check.ts";
import { defaultSampleData, type GithubPermission } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { sandboxSecrets } from "../harness.ts";
import { githubToken } from "../provider-plans.ts";
import { startScriptedServer, type ScriptedAnswer } from "../scripted-server.ts";

const workflows = ["provision.yml", "cleanup.yml"];
const infra: ConnectedRepository = { owner: "acme", repo: "infra", ref: "main", workflows };

const lacking = (repo: string, permission: GithubPermission) => ({
  owner: "acme",
  repo,
  workflows,
  lacks: [permission],
});

describe("at GitHub", () => {
  let sandbox: Sandbox;

  beforeEach(async () => {
    const githubRepositories = [
      { owner: "acme", repo: "infra", workflows },
      { owner: "acme", repo: "half", workflows: ["provision.yml"] },
      lacking("read-only", "actions=write"),
      lacking("unreadable", "contents=read"),
      lacking("unlisted", "actions=read"),
    ];
    sandbox = await startSandbox({
      sampleData: { ...defaultSampleData, githubRepositories },
      secrets: { ...sandboxSecrets, githubToken },
    });
  });

  afterEach(async () => {
    expect(sandbox.github.runs()).toEqual([]);
    await sandbox.close();
  });

  const ask = (repositories: readonly ConnectedRepository[], token = githubToken): Promise<AccessCheck> =>
    checkGithubAccess({ token, apiUrl: `${sandbox.url}/github` }, repositories, AbortSignal.timeout(10_000));

  test("repositories in which everything is allowed are reported as fine", async () => {
    expect(await ask([])).toEqual({ kind: "answers", as: "the token's owner" });
    expect(await ask([infra])).toEqual({ kind: "answers", as: "the token's owner" });
    const dispatches = sandbox.requests.list({ method: "dispatch" });
    expect(dispatches.map(({ status, body }) => [status, body])).toEqual([
      [422, { ref: "headroom/doctor-does-not-exist" }],
    ]);
  });

  test.each<[string, Partial<ConnectedRepository>, string, string]>([
    [
      "a token that may not start workflows",
      { repo: "read-only" },
      "lacks Actions: write in acme/read-only",
      "Actions: write",
    ],
    [
      "a token that may not read files",
      { repo: "unreadable" },
      "lacks Contents: read in acme/unreadable",
      "Contents: read",
    ],
    [
      "a token that may not see workflows",
      { repo: "unlisted" },
      "lacks Actions: write in acme/unlisted",
      "Actions: write",
    ],
    [
      "a repository that does not exist",
      { repo: "nothing" },
      "no workflow provision.yml on the default branch of acme/nothing",
      "access",
    ],
    ["a file that does not exist", { repo: "half" }, "no workflow cleanup.yml", ".github/workflows/cleanup.yml"],
    [
      "a branch that does not exist",
      { ref: "release" },
      "no file .github/workflows/provision.yml at release",
      "another branch",
    ],
  ])("%s is reported, with the way out", async (_what, changes, reason, remedy) => {
    expect(await ask([infra, { ...infra, ...changes }])).toEqual({
      kind: "problem",
      what: "lacking",
      grave: true,
      reason: expect.stringContaining(reason),
      remedy: expect.stringContaining(remedy),
    });
  });

  test("GitHub's stated requirement is repeated in its words", async () => {
    expect(await ask([{ ...infra, repo: "read-only" }])).toMatchObject({
      reason: expect.stringContaining("HTTP 403, GitHub asks for Actions: write"),
      remedy: expect.stringContaining("Developer settings"),
    });
  });

  test("an unknown token is reported as such, whatever is connected", async () => {
    expect(await ask([infra], "github_pat_other")).toMatchObject({ what: "refused", grave: true });
  });
});

async function askScripted(...answers: readonly ScriptedAnswer[]): Promise<AccessCheck> {
  const github = await startScriptedServer();
  onTestFinished(() => github.close());
  github.script.push({ body: {} }, ...answers);
  const one = { ...infra, workflows: ["provision.yml"] };
  return checkGithubAccess({ token: githubToken, apiUrl: github.url }, [one], AbortSignal.timeout(10_000));
}

describe("for answers that the sandbox does not give", () => {
  const active = { body: { id: 1, state: "active" } };
  const file = { body: { type: "file" } };

  test("a disabled workflow is reported", async () => {
    expect(await askScripted({ body: { id: 1, state: "disabled_manually" } })).toMatchObject({
      grave: true,
      reason: "The workflow provision.yml in acme/infra is not active.",
      remedy: expect.stringContaining("Enable workflow"),
    });
  });

  test("a workflow that can be seen and not started is reported", async () => {
    expect(await askScripted(active, file, { status: 404, body: {} })).toMatchObject({
      grave: true,
      reason: expect.stringContaining("but not start it"),
    });
  });

  test("a branch of the name that must not exist is reported, and that a run was started", async () => {
    expect(await askScripted(active, file, { status: 204 })).toMatchObject({
      grave: false,
      reason: expect.stringContaining("has started it"),
    });
  });

  test("a failing server says nothing about the token", async () => {
    expect(await askScripted(active, file, { status: 502, body: "" })).toMatchObject({ what: "unreachable" });
  });
});
