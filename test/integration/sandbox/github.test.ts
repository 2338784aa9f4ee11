import { createHmac } from "node:crypto";
import { request } from "@octokit/request";
import { describe, expect, test } from "vitest";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { secrets, setStage } from "./harness.ts";

const place = { owner: "acme", repo: "infra", workflow_id: "provision.yml" } as const;
const patience = (): AbortSignal => AbortSignal.timeout(10_000);

function github(sandbox: Sandbox): typeof request {
  return request.defaults({ baseUrl: `${sandbox.url}/github`, headers: { authorization: "token ghp_sandbox" } });
}

const needs = (permission: string) => ({
  status: 403,
  response: { headers: { "x-accepted-github-permissions": permission } },
});

describe("the GitHub stand-in, through Octokit", () => {
  test("a dispatch answers 204, and its run is found by its time, its event and its title", async () => {
    await using stage = await setStage();
    const call = github(stage.sandbox);
    const since = new Date(Date.now() - 60_000).toISOString();
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    const { status } = await call(dispatch, { ...place, ref: "main", inputs: { job_id: "job-1" } });
    expect(status).toBe(204);
    const list = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs";
    const { data } = await call(list, { ...place, event: "workflow_dispatch", created: `>=${since}` });
    expect(data.total_count).toBe(1);
    const [run] = data.workflow_runs;
    expect(run).toMatchObject({
      status: "queued",
      conclusion: null,
      display_title: "provision job-1",
      head_branch: "main",
    });
    const one = await call("GET /repos/{owner}/{repo}/actions/runs/{run_id}", { ...place, run_id: Number(run?.id) });
    expect(one.data.id).toBe(run?.id);
    const later = await call(list, { ...place, created: ">2999-01-01T00:00:00Z" });
    expect(later.data.workflow_runs).toEqual([]);
  });

  test("a dispatch that asks for the run's details gets them", async () => {
    await using stage = await setStage();
    const { status, data } = await github(stage.sandbox)(
      "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
      { ...place, ref: "main", return_run_details: true },
    );
    expect(status).toBe(200);
    expect(data).toMatchObject({ workflow_run_id: stage.sandbox.github.runs()[0]?.id });
  });

  test("invalid calls are refused with GitHub's status, and nothing runs", async () => {
    const repository = { owner: "acme", repo: "infra", workflows: ["provision.yml"] };
    await using stage = await setStage({ sampleData: { ...defaultSampleData, githubRepositories: [repository] } });
    const call = github(stage.sandbox);
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    const inputs = Object.fromEntries(Array.from({ length: 26 }, (_, n) => [`i${n}`, "x"]));
    await expect(call(dispatch, { ...place, ref: "main", inputs })).rejects.toMatchObject({ status: 422 });
    await expect(call(dispatch, { ...place, ref: "" })).rejects.toMatchObject({ status: 422 });
    await expect(call(dispatch, { ...place, workflow_id: "nothing.yml", ref: "main" })).rejects.toMatchObject({
      status: 404,
    });
    await expect(call(dispatch, { ...place, repo: "other", ref: "main" })).rejects.toMatchObject({ status: 404 });
    const stranger = request.defaults({ baseUrl: `${stage.sandbox.url}/github` });
    await expect(stranger(dispatch, { ...place, ref: "main" })).rejects.toMatchObject({ status: 401 });
    await expect(
      call("GET /repos/{owner}/{repo}/actions/runs/{run_id}", { ...place, run_id: 1 }),
    ).rejects.toMatchObject({ status: 404 });
    expect(stage.sandbox.github.runs()).toEqual([]);
  });

  test("a missing branch, and missing permissions of the token, are refused as GitHub does", async () => {
    const lacks = ["actions=write", "contents=read"] as const;
    const repository = { owner: "acme", repo: "infra", workflows: ["provision.yml"], lacks };
    const githubRepositories = [repository, { ...repository, repo: "open", lacks: [] }];
    await using stage = await setStage({ sampleData: { ...defaultSampleData, githubRepositories } });
    const call = github(stage.sandbox);
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    const contents = "GET /repos/{owner}/{repo}/contents/.github/workflows/{workflow_id}";
    await expect(call(dispatch, { ...place, ref: "main" })).rejects.toMatchObject(needs("actions=write"));
    await expect(call(contents, { ...place, ref: "main" })).rejects.toMatchObject(needs("contents=read"));
    const open = { ...place, repo: "open" };
    await expect(call(dispatch, { ...open, ref: "other" })).rejects.toMatchObject({ status: 422 });
    await expect(call(contents, { ...open, ref: "other" })).rejects.toMatchObject({ status: 404 });
    expect((await call(contents, { ...open, ref: "main" })).data).toMatchObject({ type: "file" });
    const { data } = await call("GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}", open);
    expect(data).toMatchObject({ name: "provision", state: "active" });
    expect(stage.sandbox.github.runs()).toEqual([]);
  });

  test("runs show job and attempt; one that is slow to stop continues until it is cancelled by force", async () => {
    await using stage = await setStage();
    const call = github(stage.sandbox);
    const other = { ...place, workflow_id: "deploy.yml" };
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    await call(dispatch, { ...other, ref: "main", inputs: { job_id: "job-1", attempt: "2", task: "provision" } });
    await call(dispatch, { ...other, ref: "main", inputs: { job_id: "job-1", attempt: "1", task: "cleanup" } });
    const runs = stage.sandbox.github.runs();
    expect(runs.map(({ title }) => title)).toEqual(["deploy job-1/2", "deploy job-1/cleanup-1"]);
    stage.sandbox.github.slowToStop(true);
    const run = { ...place, run_id: runs[0]?.id ?? 0 };
    expect((await call("POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel", run)).status).toBe(202);
    const read = "GET /repos/{owner}/{repo}/actions/runs/{run_id}";
    expect((await call(read, run)).data).toMatchObject({ status: "queued", run_attempt: 1 });
    const force = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/force-cancel";
    expect((await call(force, run)).status).toBe(202);
    expect((await call(read, run)).data).toMatchObject({ status: "completed", conclusion: "cancelled" });
    await expect(call(force, run)).rejects.toMatchObject({ status: 409 });
  });

  test("a failure after acceptance leaves a run behind, as GitHub's do", async () => {
    await using stage = await setStage();
    stage.sandbox.faults.add({ provider: "github", kind: "error500AfterAccept", method: "dispatch", times: 1 });
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    await expect(github(stage.sandbox)(dispatch, { ...place, ref: "main" })).rejects.toMatchObject({ status: 500 });
    expect(stage.sandbox.github.runs()).toHaveLength(1);
  });

  test("a run begins, ends and is cancelled, and each is reported with a signature", async () => {
    await using stage = await setStage();
    const call = github(stage.sandbox);
    const dispatch = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
    await call(dispatch, { ...place, ref: "main", inputs: { job_id: "job-1" } });
    await call(dispatch, { ...place, ref: "main", inputs: { job_id: "job-2" } });
    const [first, second] = stage.sandbox.github.runs();
    stage.sandbox.github.begin(first?.id ?? 0);
    stage.sandbox.github.finish(first?.id ?? 0, "success");
    const cancel = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel";
    expect((await call(cancel, { ...place, run_id: second?.id ?? 0 })).status).toBe(202);
    await expect(call(cancel, { ...place, run_id: first?.id ?? 0 })).rejects.toMatchObject({ status: 409 });
    await stage.ear.heardAtLeast(5, patience());
    const told = stage.ear.heard.map(({ body, headers }) => {
      const expected = `sha256=${createHmac("sha256", secrets.githubWebhookSecret).update(body).digest("hex")}`;
      expect(headers["x-hub-signature-256"]).toBe(expected);
      expect(headers["x-github-event"]).toBe("workflow_run");
      const { action, workflow_run: run } = JSON.parse(body) as {
        action: string;
        workflow_run: { display_title: string; conclusion: string | null };
      };
      return `${run.display_title} ${action} ${run.conclusion}`;
    });
    expect(told.toSorted()).toEqual([
      "provision job-1 completed success",
      "provision job-1 in_progress null",
      "provision job-1 requested null",
      "provision job-2 completed cancelled",
      "provision job-2 requested null",
    ]);
    expect(new Set(stage.ear.heard.map(({ headers }) => headers["x-github-delivery"])).size).toBe(5);
  });
});
