/** `headroom request can`: what a member can do with a request now, why not, and who can. */
import type { Command } from "commander";
import { judgeRequests, type Verdict } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { addCommon } from "../../options.ts";
import { printJson, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, requireMember, type ActingOptions } from "../../acting.ts";

export function registerCan(request: Command): void {
  addCommon(
    request
      .command("can")
      .description("show what a member can do with a request now, why not, and who can")
      .argument("<id>", "request id", parseRequestId)
      .addOption(asOption()),
  ).action(runCan);
}

async function runCan(id: string, options: ActingOptions): Promise<void> {
  const as = requireMember(options);
  const { verdicts } = orFail(
    await withDatabase(options, "request can", (client) => judgeRequests(client, [id], { as })),
  );
  const [unseen] = verdicts.filter(({ action }) => action === null);
  if (unseen !== undefined) {
    throw new HeadroomError("not_found", unseen.reason ?? "", { detail: id, hint: unseen.hint ?? undefined });
  }
  if (options.json === true) return printJson(verdicts);
  printTable(verdicts, [
    { title: "ACTION", value: ({ action }) => action },
    { title: "MAY", value: ({ allowed, repeated }) => (repeated ? "done" : allowed ? "yes" : "no") },
    { title: "WHY", value: whyOf },
    { title: "WHO CAN", value: ({ others }) => others.map(({ name }) => name).join(", ") || null },
  ]);
}

const whyOf = ({ reason, rule, repeated, decidedBy, decidedAt }: Verdict): string | null =>
  repeated && decidedAt !== null ? `${decidedBy}, ${decidedAt.toISOString()}` : (reason ?? rule);
