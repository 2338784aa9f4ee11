/**
 * Plausible bugs of provisioning, each as the smallest change to the real code that causes it, and the scene in which the
 * ordinary oracle must find it. The unchanged code plays the same scenes, and must pass.
 */
import { pause } from "../../../src/db/wait/pause.ts";
import { Findings } from "../kit/findings.ts";
import { eventually } from "../kit/eventually.ts";
import { plantedInCode, type CodeBug } from "../kit/planted.ts";
import { judge, observe } from "./oracle.ts";
import { calm } from "./settings.ts";
import { ProvisioningStage, type Job } from "./stage.ts";

const sql = (path: string): string => `sql/functions/provisioning/${path}.sql`;

export const plantedBugs: readonly CodeBug<keyof typeof scenes>[] = [
  {
    name: "a callback without a fence",
    scene: "another run",
    caughtAs: "verify: stranger_obeyed",
    patches: [
      {
        file: sql("callbacks/callback_rules"),
        find: "when s.status = 'claimed' and r.run = 'own' then case g.signal when 'claim' then 'repeated' else g.signal end",
        replace: "when s.status = 'claimed' then case g.signal when 'claim' then 'repeated' else g.signal end",
      },
    ],
  },
  {
    name: "a sweep that forgets the cleanup",
    scene: "a silent run",
    patches: [
      {
        file: sql("attempts/attempt_failed"),
        find: "if not p_never_ran then",
        replace: "if not p_never_ran and v_attempt.status <> 'stopped' then",
      },
    ],
  },
  {
    name: "a second dispatch: the lost answer of the first is not looked up",
    scene: "a lost answer",
    patches: [
      {
        file: "src/rails/github-actions/dispatch.ts",
        find: "  if (first !== undefined) {",
        replace: "  if (first !== undefined && first.id < 0) {",
      },
    ],
  },
  {
    name: "a second dispatch: a quiet run is asked for again, without a key",
    scene: "a quiet run",
    patches: [
      {
        file: sql("sweep/look_at_attempt"),
        find: "perform provisioning.watch_run(p_attempt);",
        replace:
          "perform provisioning.send(p_attempt, 'dispatch', (select r.payload from outbox.rows r where r.outbox_id = v_row.outbox_id), gen_random_uuid()::text);",
      },
    ],
  },
  {
    name: "a second job of a customer begins",
    scene: "two requests",
    patches: [{ file: sql("jobs/start_next"), find: "  elsif not exists (", replace: "  elsif true or not exists (" }],
    afterMigration: "drop index provisioning.jobs_in_progress",
  },
  {
    name: "a retry does not wait for the cleanup",
    scene: "a hasty retry",
    patches: [
      {
        file: sql("jobs/start_next"),
        find: "       and j.cleanup in ('none', 'done') and not j.adopted",
        replace: "       and not j.adopted",
      },
      {
        file: sql("jobs/pass_turn"),
        find: "a.job_id = j.id and a.over_at is null);",
        replace: "a.job_id = j.id and a.over_at is null and a.task = 'provision');",
      },
    ],
  },
];

/** Each plays on its own stage, without random faults: a planted bug shows in its consequences. */
const scenes = {
  /** A machine dies with its run, and somebody starts another at GitHub with the same inputs. */
  async "another run"(stage) {
    stage.sandbox.github.planNext({ ...calm, outcome: "crashes" });
    const job = await confirmed(stage);
    const first = await eventually(() => stage.runsOf(job)[0], "a run");
    stage.sandbox.github.planNext(calm);
    await stage.sandbox.github.ended(first.id);
    await stage.runByHand(first);
    const second = await eventually(() => stage.runsOf(job)[1], "a second run");
    await stage.sandbox.github.ended(second.id);
    await stage.age(job, 3);
  },
  async "a silent run"(stage) {
    stage.sandbox.github.planNext({ ...calm, outcome: "hangs", affects: "provision" });
    const job = await confirmed(stage);
    await hanging(stage, job);
    await stage.age(job, 11);
  },
  async "a lost answer"(stage) {
    stage.sandbox.faults.add({ provider: "github", method: "dispatch", kind: "error500AfterAccept", times: 1 });
    await confirmed(stage);
  },
  async "a quiet run"(stage) {
    stage.sandbox.github.planNext({ ...calm, outcome: "hangs", affects: "provision" });
    const job = await confirmed(stage);
    await hanging(stage, job);
    await stage.age(job, 3);
    await stage.passTime();
    await stage.age(job, 11);
  },
  async "two requests"(stage, findings) {
    const ids = [await stage.request("twice"), await stage.request("twice")];
    for (const id of ids) await stage.confirm(id);
    await observe(stage, findings);
  },
  async "a hasty retry"(stage) {
    stage.sandbox.github.planNext({ ...calm, outcome: "fails", affects: "provision" });
    // The first is the provisioning run's claim, the second the cleanup's.
    stage.sandbox.faults.add({ provider: "github", method: "callback.claim", kind: "late", times: 1, after: 1 });
    const job = await confirmed(stage);
    await eventually(async () => (await stage.attemptsOf(job)).includes("cleanup 1 claimed"), "the cleanup");
    stage.sandbox.github.planNext(calm);
    await stage.retry(job);
    stage.sandbox.faults.release();
  },
} satisfies Record<string, (stage: ProvisioningStage, findings: Findings) => Promise<void>>;

async function confirmed(stage: ProvisioningStage): Promise<Job> {
  return stage.confirm(await stage.request("customer"));
}

async function hanging(stage: ProvisioningStage, job: Job): Promise<void> {
  const hangs = "This step hangs on purpose.";
  await eventually(() => stage.runsOf(job)[0]?.script?.log.includes(hangs), "the run to hang");
}

export const planted = plantedInCode(plantedBugs, async (code, scene) => {
  const findings = new Findings();
  const stage = await ProvisioningStage.open(code);
  try {
    stage.sandbox.github.planNext(calm);
    await stage.startRelay();
    await scenes[scene](stage, findings);
    await rest(stage);
    await judge(stage, findings);
  } finally {
    await stage.close();
  }
  return findings.list;
});

/** Until nothing is in progress, or nothing changes any more. */
async function rest(stage: ProvisioningStage): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    await stage.passTime();
    const open =
      (await stage.countOf("outbox.pending")) +
      (await stage.countOf(
        "provisioning.jobs where state in ('waiting', 'queued', 'provisioning') or cleanup = 'under_way'",
      ));
    if (open === 0 && stage.sandbox.github.runs().every(({ status }) => status === "completed")) return;
    await pause(200);
  }
}
