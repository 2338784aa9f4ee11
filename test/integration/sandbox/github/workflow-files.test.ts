import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { claimStep, reportStep } from "../../../../src/sandbox/github/job.ts";
import { ourWorkflows } from "../../../../src/sandbox/github/run-plan.ts";

const stepSchema = z.strictObject({
  name: z.string(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  if: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  "timeout-minutes": z.int().optional(),
});
const workflowSchema = z.strictObject({
  name: z.string(),
  "run-name": z.string(),
  on: z.strictObject({ workflow_dispatch: z.strictObject({ inputs: z.record(z.string(), z.unknown()) }) }),
  concurrency: z.strictObject({ group: z.string(), "cancel-in-progress": z.boolean() }),
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.strictObject({
      "runs-on": z.string(),
      "timeout-minutes": z.int(),
      env: z.record(z.string(), z.string()),
      steps: z.array(stepSchema),
    }),
  ),
});

/** Headroom gives up an attempt after that time. */
const limitMinutes = 15;
const secret = { HEADROOM_CALLBACK_SECRET: "${{ secrets.HEADROOM_CALLBACK_SECRET }}" };

async function read(name: string) {
  const text = await readFile(new URL(`../../../../deploy/github/${name}.yml`, import.meta.url), "utf8");
  const workflow = workflowSchema.parse(parse(text));
  const [job, ...others] = Object.values(workflow.jobs);
  if (job === undefined || others.length > 0) throw new Error(`${name}.yml has one job`);
  return { text, workflow, job, steps: job.steps };
}

describe.each([
  ["provision", "Provision ${{ inputs.job_id }}/${{ inputs.attempt }}"],
  ["cleanup", "Clean up ${{ inputs.job_id }}/cleanup-${{ inputs.attempt }}"],
])("%s.yml", async (name, runName) => {
  const { text, workflow, job, steps } = await read(name);

  test("shows the mark by which its runs are found, and runs one at a time for each job", () => {
    expect(workflow["run-name"]).toBe(runName);
    expect(workflow.concurrency).toEqual({ group: "headroom-${{ inputs.job_id }}", "cancel-in-progress": false });
  });

  test("takes Headroom's inputs as texts, and passes them on only through the environment", () => {
    expect(workflow.on.workflow_dispatch.inputs).toEqual(
      Object.fromEntries(
        ["job_id", "attempt", "task", "workspace", "callback_url"].map((input) => [
          input,
          { description: expect.any(String), required: true, type: "string" },
        ]),
      ),
    );
    expect(job.env).toEqual({
      HEADROOM_JOB_ID: "${{ inputs.job_id }}",
      HEADROOM_ATTEMPT: "${{ inputs.attempt }}",
      HEADROOM_TASK: "${{ inputs.task }}",
      HEADROOM_WORKSPACE: "${{ inputs.workspace }}",
      HEADROOM_CALLBACK_URL: "${{ vars.HEADROOM_CALLBACK_URL }}",
    });
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });

  test("may read its repository and nothing else, and uses no action that can change", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used).toHaveLength(1);
    for (const each of used) expect(each).toMatch(/^actions\/checkout@[0-9a-f]{40}$/);
    expect(steps[0]?.with).toEqual({ "persist-credentials": false });
  });

  test("gives the secret only to the steps that call the script", () => {
    for (const { run, env = {} } of steps) {
      const { HEADROOM_RESULT: _result, ...others } = env;
      expect(others).toEqual(run === undefined ? {} : secret);
      for (const line of run?.trim().split("\n") ?? []) expect(line).toMatch(/^node \.github\/headroom\.mjs /);
    }
  });

  test("ends before Headroom gives it up, with time left to report a step that took too long", () => {
    expect(job["timeout-minutes"]).toBeLessThan(limitMinutes);
    const minutes = steps.map((step) => step["timeout-minutes"] ?? 0).reduce((sum, each) => sum + each, 0);
    expect(minutes).toBeLessThanOrEqual(job["timeout-minutes"]);
  });

  test("claims first, reports at the end whatever happened, and has a marked place for the user's own work in between", () => {
    expect(steps[1]?.run).toBe("node .github/headroom.mjs start");
    expect(steps.at(-1)).toMatchObject({
      if: "always()",
      run: "node .github/headroom.mjs finish",
      env: { HEADROOM_RESULT: "${{ job.status }}" },
    });
    const own = text.slice(text.indexOf("# ---- your own work: begin"), text.indexOf("# ---- your own work: end"));
    for (const step of steps.slice(2, -1)) expect(own).toContain(`- name: ${step.name}\n`);
  });

  test("has the steps that the sandbox runs", () => {
    const [checkout, ...others] = steps.map((step) => step.name);
    expect(checkout).toBe("Check out");
    const work = ourWorkflows.get(`${name}.yml`)?.work ?? [];
    expect(others).toEqual([claimStep, ...work.map((step) => step.name), reportStep]);
    const inputs = { job_id: "J", attempt: "7" };
    const title = runName.replace("${{ inputs.job_id }}", "J").replace("${{ inputs.attempt }}", "7");
    expect(ourWorkflows.get(`${name}.yml`)?.title(inputs)).toBe(title);
    for (const { name: stepName, percent } of work)
      expect(text).toContain(`headroom.mjs step "${stepName}" ${percent}\n`);
  });

  test("never reports work that nobody has put there", () => {
    for (const { name: stepName, run } of steps.slice(2, -1)) {
      expect(run).toContain(`headroom.mjs step "${stepName}" `);
      expect(run).toContain(`exec -- node -e 'throw "${name}.yml: put your own work here"'`);
    }
  });
});
