/**
 * `headroom verify`: proves that the log is complete, that the requests agree with it, and that every message is accounted for.
 *
 * Only reads, in small batches, so it can run on a production database at any time. Exit code 1 when something was found.
 */
import { Option, type Command } from "commander";
import type { Client } from "pg";
import { noCounts, verify, type Finding, type Phase, type VerifiedBatch } from "../../../capacity/index.ts";
import { verifyPayments, type VerifiedPayments } from "../../../billing/index.ts";
import { verifyJobs, type VerifiedJobs } from "../../../provisioning/index.ts";
import { databaseUrlOption, withDatabase, type DatabaseUrlOption } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { startProgress } from "../../output.ts";
import { verifyReceipt } from "./receipt.ts";
import { compareWithRecord, exportHeads, refuseExisting } from "./heads.ts";
import { printReport, type Checked, type Report } from "./report.ts";

interface VerifyCommandOptions extends DatabaseUrlOption {
  readonly json?: boolean;
  readonly exportHead?: string;
  readonly against?: string;
  readonly workspace?: string;
  readonly receipt?: string;
}

export function register(program: Command): void {
  program
    .command("verify")
    .description(
      "check that nothing was lost, changed or sent twice: the log, the requests, their jobs and payments, the messages",
    )
    .option(
      "--workspace <id>",
      "only the requests, jobs and payments of this workspace; messages, which all share, are left out",
    )
    .option(
      "--export-head <file>",
      "if nothing is found, write the heads of all chains to a new file, to be kept elsewhere",
    )
    .option("--against <file>", "also compare with a file of heads that was written before")
    .addOption(
      new Option("--receipt <file>", "only check a receipt (headroom request receipt), without a database").conflicts([
        "workspace",
        "exportHead",
        "against",
      ]),
    )
    .addOption(databaseUrlOption())
    .option("--json", "print one JSON object")
    .action(runVerify);
}

async function runVerify(options: VerifyCommandOptions): Promise<void> {
  if (options.receipt !== undefined) return verifyReceipt(options.receipt, options.json === true);
  if (options.exportHead !== undefined) await refuseExisting(options.exportHead);
  const report = await withDatabase(options, "verify", (client) => examine(client, options));
  printReport(report, options.json === true);
  if (report.findingCount > 0) throw new ExitWith(1);
}

/** The maximum number of findings that are kept; all are counted. */
const maxFindings = 1_000;

const labels: Readonly<Record<Phase | "jobs" | "payments", string>> = {
  requests: "Requests",
  routes: "Routes of events",
  deliveries: "Deliveries",
  keys: "Idempotency keys",
  order: "Order of streams",
  lanes: "Lanes",
  jobs: "Provisioning jobs",
  payments: "Payments",
};

async function examine(client: Client, options: VerifyCommandOptions): Promise<Report> {
  const findings: Finding[] = [];
  let findingCount = 0;
  const note = (found: readonly Finding[]): void => {
    findingCount += found.length;
    findings.push(...found.slice(0, Math.max(0, maxFindings - findings.length)));
  };
  const checked = await walk(client, options, note);
  const compared = options.against === undefined ? null : await compareWithRecord(client, options.against, note);
  const wanted = options.exportHead !== undefined && findingCount === 0;
  const exported = wanted ? await exportHeads(client, options.exportHead ?? "", options.workspace) : null;
  return { checked, findings, findingCount, compared, exported, workspace: options.workspace ?? null };
}

async function walk(
  client: Client,
  options: VerifyCommandOptions,
  note: (found: readonly Finding[]) => void,
): Promise<Checked> {
  let counts: Checked = { ...noCounts, jobs: 0, payments: 0 };
  let phase: keyof typeof labels | undefined;
  let progress = startProgress("Verifying");
  try {
    for await (const batch of batches(client, options.workspace)) {
      if (batch.phase !== phase) {
        progress.finish();
        progress = startProgress(labels[batch.phase]);
        phase = batch.phase;
      }
      progress.update(batch.done, "total" in batch ? Math.max(batch.done, batch.total) : undefined);
      counts = add(counts, batch.counts);
      note(batch.findings);
    }
  } finally {
    progress.finish();
  }
  return counts;
}

async function* batches(
  client: Client,
  workspaceId?: string,
): AsyncGenerator<VerifiedBatch | VerifiedJobs | VerifiedPayments> {
  yield* verify(client, { workspaceId });
  yield* verifyJobs(client, { workspaceId });
  yield* verifyPayments(client, { workspaceId });
}

function add(counts: Checked, more: Partial<Checked>): Checked {
  return {
    requests: counts.requests + (more.requests ?? 0),
    events: counts.events + (more.events ?? 0),
    effects: counts.effects + (more.effects ?? 0),
    deliveries: counts.deliveries + (more.deliveries ?? 0),
    lines: counts.lines + (more.lines ?? 0),
    keys: counts.keys + (more.keys ?? 0),
    lanes: counts.lanes + (more.lanes ?? 0),
    routes: counts.routes + (more.routes ?? 0),
    jobs: counts.jobs + (more.jobs ?? 0),
    payments: counts.payments + (more.payments ?? 0),
  };
}
