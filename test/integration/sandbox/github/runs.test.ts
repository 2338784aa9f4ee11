import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { WorkflowRun } from "../../../../src/sandbox/github/state.ts";
import { secrets } from "../harness.ts";
import { cancelOverApi, setRunStage, type RunStage } from "./run-stage.ts";
import { signals } from "./workflow-stage.ts";

const stepsOf = ({ script }: WorkflowRun): string[] =>
  script?.steps.map(({ name, state }) => `${name}: ${state}`) ?? [];

/** GitHub's webhooks about the run, in order. */
function told(stage: RunStage): string[] {
  return stage.ear.heard.map(({ body }) => {
    const { action, workflow_run: run } = JSON.parse(body) as {
      action: string;
      workflow_run: { conclusion: string | null; run_attempt: number };
    };
    return `${action} ${run.conclusion} ${run.run_attempt}`;
  });
}

describe("a run of one of our workflows", () => {
  test("is executed: it claims, reports its steps, and reports that it succeeded", async () => {
    await using stage = await setRunStage();
    const job = randomUUID();
    const run = await stage.sandbox.github.ended(await stage.dispatch({ job }));
    expect(run).toMatchObject({ title: `Provision ${job}/1`, status: "completed", conclusion: "success" });
    expect(stepsOf(run)).toEqual([
      "Claim the job: done",
      "Reserve the capacity: done",
      "Create the machines: done",
      "Check that they answer: done",
      "Report the result: done",
    ]);
    expect(stage.receiver.heard.map(({ signal, step, progress }) => [signal, step, progress])).toEqual([
      ["claim", undefined, undefined],
      ["heartbeat", "Reserve the capacity", 10],
      ["heartbeat", "Create the machines", 40],
      ["heartbeat", "Check that they answer", 80],
      ["succeeded", undefined, undefined],
    ]);
    expect(stage.receiver.heard[0]).toMatchObject({
      job_id: job,
      run_id: run.id,
      run_attempt: 1,
      workspace: "default",
    });
    expect(run.script?.log.at(-1)).toBe("headroom: reported that it succeeded");
    await stage.sandbox.webhooks.done();
    expect(told(stage).toSorted()).toEqual(["completed success 1", "in_progress null 1", "requested null 1"]);
  });

  test("of the cleanup works the same, under its own mark", async () => {
    await using stage = await setRunStage();
    const job = randomUUID();
    const run = await stage.sandbox.github.ended(await stage.dispatch({ job, task: "cleanup", attempt: 2 }));
    expect(run).toMatchObject({ title: `Clean up ${job}/cleanup-2`, conclusion: "success" });
    expect(stage.receiver.heard.at(-1)).toMatchObject({ task: "cleanup", attempt: 2, signal: "succeeded" });
  });

  test("an instant one claims and reports, and nothing else", async () => {
    await using stage = await setRunStage({ speed: "instant" });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe("success");
    expect(signals(stage.receiver)).toEqual(["claim", "succeeded"]);
  });

  test("fails at the step that was chosen, and says why", async () => {
    await using stage = await setRunStage({ speed: "instant", outcome: "fails", step: 3 });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe("failure");
    expect(stage.receiver.heard.at(-1)).toMatchObject({
      signal: "failed",
      failed_step: "Check that they answer",
      error: "Error: insufficient capacity in us-east-1 (on purpose)",
    });
  });

  test("that is told to stop ends, and reports nothing", async () => {
    await using stage = await setRunStage({ speed: "instant" });
    const job = randomUUID();
    const first = await stage.dispatch({ job });
    const second = await stage.dispatch({ job });
    expect((await stage.sandbox.github.ended(first)).conclusion).toBe("success");
    const run = await stage.sandbox.github.ended(second);
    expect(run.conclusion).toBe("failure");
    expect(run.script?.log[0]).toContain("this run stops, and reports nothing");
    // They are in one group: the second waited for the end of the first.
    expect(stage.receiver.heard.map(({ signal, run_id: id }) => [signal, id])).toEqual([
      ["claim", first],
      ["succeeded", first],
      ["claim", second],
    ]);
  });

  test("crashes: everything is killed, nothing is reported, and GitHub notices", async () => {
    await using stage = await setRunStage({ outcome: "crashes" });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe("failure");
    expect(stepsOf(run).slice(2)).toEqual([
      "Create the machines: failed",
      "Check that they answer: skipped",
      "Report the result: skipped",
    ]);
    expect(signals(stage.receiver)).toEqual(["claim", "heartbeat", "heartbeat"]);
  });

  test.each([
    ["claims", ["failed"], "failure"],
    ["results", ["claim"], "success"],
    ["everything", [], "failure"],
  ] as const)("loses %s on the way", async (loses, heard, conclusion) => {
    await using stage = await setRunStage({ speed: "instant", loses });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe(conclusion);
    expect(signals(stage.receiver)).toEqual(heard);
  });

  test("callbacks meet planned faults like any other call", async () => {
    await using stage = await setRunStage({ speed: "instant" });
    stage.sandbox.faults.add({ provider: "github", kind: "dropAfterAccept", method: "callback.claim", times: 1 });
    stage.sandbox.faults.add({ provider: "github", kind: "error500", times: 1, method: "callback.succeeded" });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe("success");
    expect(signals(stage.receiver)).toEqual(["claim", "claim", "succeeded"]);
    expect(stage.receiver.refused).toEqual([]);
  });

  test("callbacks reach Headroom in the form that their address requires", async () => {
    await using stage = await setRunStage({ speed: "instant" }, {}, "/rest/v1/rpc/handle_provisioning_callback");
    await stage.sandbox.github.ended(await stage.dispatch());
    expect(stage.receiver.heard.map(({ headers }) => headers["content-type"])).toEqual(["text/plain", "text/plain"]);
  });

  test("a repository without the secret has runs that fail at their claim and say so", async () => {
    await using stage = await setRunStage({ speed: "instant" }, { secrets });
    const run = await stage.sandbox.github.ended(await stage.dispatch());
    expect(run.conclusion).toBe("failure");
    expect(run.script?.log[0]).toBe("headroom: HEADROOM_CALLBACK_SECRET is not set.");
  });

  test("that is run again keeps its id, and says which attempt it is", async () => {
    await using stage = await setRunStage({ speed: "instant" });
    const id = await stage.dispatch();
    await stage.sandbox.github.ended(id);
    expect(() => stage.sandbox.github.plan(id, { outcome: "fails" })).toThrow("has ended");
    stage.sandbox.github.rerun(id);
    const run = await stage.sandbox.github.ended(id);
    expect(run.runAttempt).toBe(2);
    expect(stage.receiver.heard.map(({ signal, run_attempt: attempt }) => [signal, attempt])).toEqual([
      ["claim", 1],
      ["succeeded", 1],
      ["claim", 2],
    ]);
    const shape = await fetch(`${stage.sandbox.url}/github/repos/acme/infra/actions/runs/${id}`, {
      headers: { authorization: "Bearer ghp_sandbox" },
    });
    expect(await shape.json()).toMatchObject({ id, run_attempt: 2, conclusion: "failure" });
  });

  test("can be told how to continue while it runs", async () => {
    await using stage = await setRunStage({ outcome: "hangs", step: 1 });
    const id = await stage.dispatch();
    await stage.receiver.heardAtLeast(1, "heartbeat");
    expect(() => stage.sandbox.github.finish(id, "success")).toThrow("is executed");
    stage.sandbox.github.plan(id, { slowToStop: true });
    expect(stage.sandbox.github.run(id).script?.plan).toMatchObject({ outcome: "hangs", slowToStop: true });
    expect(stage.sandbox.github.nextPlan()).toMatchObject({ slowToStop: false });
  });
});

describe("a run that is cancelled", () => {
  test("has its processes ended, reports no failure, and is cancelled after a moment", async () => {
    await using stage = await setRunStage({ outcome: "hangs" });
    const id = await stage.dispatch();
    await stage.receiver.heardAtLeast(2, "heartbeat");
    expect((await cancelOverApi(stage, id)).status).toBe(202);
    expect(stage.sandbox.github.run(id).status).toBe("in_progress");
    const run = await stage.sandbox.github.ended(id);
    expect(run.conclusion).toBe("cancelled");
    expect(stepsOf(run)).toContain("Report the result: done");
    expect(run.script?.log.at(-1)).toContain("nothing is reported");
    expect((await cancelOverApi(stage, id)).status).toBe(409);
    expect(signals(stage.receiver)).toEqual(["claim", "heartbeat", "heartbeat"]);
  });

  test("before it began never begins", async () => {
    await using stage = await setRunStage({ speed: "slow" }, { runTimeScale: 1 });
    const id = await stage.dispatch();
    stage.sandbox.github.cancel(id);
    expect((await stage.sandbox.github.ended(id)).conclusion).toBe("cancelled");
    expect(stage.receiver.heard).toEqual([]);
    await stage.sandbox.webhooks.done();
    expect(told(stage).toSorted()).toEqual(["completed cancelled 1", "requested null 1"]);
  });

  test("and is slow to stop continues for a while, unless it is forced", async () => {
    await using stage = await setRunStage({ outcome: "hangs", slowToStop: true });
    const id = await stage.dispatch();
    await stage.receiver.heardAtLeast(2, "heartbeat");
    // From now on so slow that the test would not see it end.
    stage.sandbox.github.plan(id, { speed: "slow" });
    stage.sandbox.github.cancel(id);
    stage.sandbox.github.cancel(id);
    expect(stage.sandbox.github.run(id).status).toBe("in_progress");
    expect((await cancelOverApi(stage, id, "force-cancel")).status).toBe(202);
    expect((await stage.sandbox.github.ended(id)).conclusion).toBe("cancelled");
    expect(signals(stage.receiver)).toEqual(["claim", "heartbeat", "heartbeat"]);
  });

  test("lets the next of its group begin; of those that wait, the newest stays", async () => {
    await using stage = await setRunStage({ outcome: "hangs", step: 1 });
    const job = randomUUID();
    const first = await stage.dispatch({ job });
    await stage.receiver.heardAtLeast(1, "heartbeat");
    stage.sandbox.github.planNext({ speed: "instant", outcome: "succeeds" });
    const second = await stage.dispatch({ job });
    const cleanup = await stage.dispatch({ job, task: "cleanup" });
    expect((await stage.sandbox.github.ended(second)).conclusion).toBe("cancelled");
    expect(stage.sandbox.github.run(cleanup).status).toBe("queued");
    stage.sandbox.github.cancel(first);
    expect((await stage.sandbox.github.ended(cleanup)).conclusion).toBe("success");
    expect(stage.receiver.heard.at(-1)).toMatchObject({ task: "cleanup", signal: "succeeded" });
  });
});

describe("many runs", () => {
  test("eight at the same time; the others wait for a place", async () => {
    await using stage = await setRunStage({ outcome: "hangs", step: 1 });
    const ids: number[] = [];
    for (let n = 0; n < 10; n += 1) ids.push(await stage.dispatch());
    await stage.receiver.heardAtLeast(8, "heartbeat");
    const { github } = stage.sandbox;
    expect(ids.map((id) => github.run(id).status)).toEqual([
      ...Array.from({ length: 8 }, () => "in_progress"),
      "queued",
      "queued",
    ]);
    github.cancel(ids[0] ?? 0, { force: true });
    await stage.receiver.heardAtLeast(9, "heartbeat");
    expect(ids.slice(8).map((id) => github.run(id).status)).toEqual(["in_progress", "queued"]);
  });
});
