/** The report of a verification, for people and for machines. */
import type { Counts, Finding } from "../../../capacity/index.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import type { Compared, Exported } from "./heads.ts";

export type Checked = Counts & { readonly jobs: number; readonly payments: number };

export interface Report {
  readonly checked: Checked;
  /** The first findings. */
  readonly findings: readonly Finding[];
  readonly findingCount: number;
  readonly compared: Compared | null;
  readonly exported: Exported | null;
  readonly workspace: string | null;
}

/** How many findings are shown; --json has all that were kept. */
const shownFindings = 50;

const advice: Readonly<Record<string, string>> = {
  I1: "A request differs from its log. Trust the log unless I2 is reported too; find out who changed the table without the functions.",
  I2: "A log was changed. Compare with a backup, and with heads kept elsewhere: headroom verify --against <file>",
  I3: "Events and messages do not match: something was enqueued or deleted by hand.",
  I4: "The archive of a message has a gap or a duplicate. Only a superuser can have done that.",
  I5: "Messages of a key were delivered out of order. headroom outbox inspect <id> shows the history of one.",
  I6: "A message is nowhere, or in two places. headroom outbox inspect <id> shows the history of one.",
  I7: "A provisioning job, its runs, its callbacks and its request do not agree. headroom jobs show <request> shows its history.",
  I8: "Money does not add up, or something at Stripe waits for a person. headroom payments show <payment> shows its history.",
  I9: "Events do not go where endpoints and subscriptions say: routes were changed by hand. To rebuild them: select capacity.route_all()",
};

export function printReport(report: Report, json: boolean): void {
  if (json) return printJson({ ok: report.findingCount === 0, ...report });
  const { checked, compared, exported, findingCount } = report;
  if (findingCount > 0) showFindings(report);
  printLine(`Checked ${checked.requests} requests, ${checked.events} events and ${checked.effects} side effects.`);
  printLine(`Checked ${checked.routes} routes of events to endpoints.`);
  printLine(`Checked ${checked.jobs} provisioning jobs and ${checked.payments} payments.`);
  printLine(
    report.workspace === null
      ? `Checked ${checked.deliveries} deliveries, ${checked.lines} lines of their archive, and ${checked.lanes} lanes.`
      : "Deliveries were left out: workspaces share them. Run without --workspace to check them too.",
  );
  if (compared !== null) printLine(`Compared ${compared.requests} heads with ${compared.file}.`);
  if (exported !== null) {
    printLine(
      `Wrote ${exported.requests} heads to ${exported.file}. Keep it where the owner of the database cannot change it.`,
    );
  }
  printLine(findingCount === 0 ? "All is well." : `${findingCount} findings.`);
}

function showFindings({ findings, findingCount }: Report): void {
  printTable(findings.slice(0, shownFindings), [
    { title: "INVARIANT", value: (row) => row.invariant },
    { title: "CODE", value: (row) => row.code },
    { title: "SUBJECT", value: (row) => row.subject },
    { title: "WHAT", value: (row) => row.detail },
  ]);
  if (findingCount > shownFindings) printLine(`… and ${findingCount - shownFindings} more (--json lists up to 1000)`);
  printLine();
  for (const invariant of [...new Set(findings.map((finding) => finding.invariant))].toSorted()) {
    const line = advice[invariant];
    if (line !== undefined) printLine(`${invariant}: ${line}`);
  }
  printLine();
}
