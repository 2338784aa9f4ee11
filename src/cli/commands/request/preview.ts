/** `headroom request preview`: who would be asked, by which rule, and what it would cost, without asking anybody. */
import type { Command } from "commander";
import { previewRequest, type Preview } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { addTerms, toTerms, type TermsOptions } from "./terms.ts";
import { priceOf } from "./price.ts";
import { showUnasked } from "./unasked.ts";

export function registerPreview(request: Command): void {
  addTerms(
    request.command("preview").description("show who would be asked, and by which rule; nothing is recorded"),
  ).action(runPreview);
}

async function runPreview(options: TermsOptions): Promise<void> {
  const terms = toTerms(options);
  const answer = await withDatabase(options, "request preview", (client) => previewRequest(client, terms));
  const { preview } = orFail(answer);
  if (options.json === true) printJson(preview);
  else show(preview);
}

function show(preview: Preview): void {
  const { commercial, technical } = preview;
  const steps = [
    { step: "commercial", ...commercial },
    { step: "technical", ...technical },
  ];
  printTable(steps, [
    { title: "REVIEW", value: (row) => row.step },
    { title: "ASKS", value: (row) => (row.auto ? "nobody" : row.asked.map(({ name }) => name).join(", ")) },
    { title: "RULE", value: (row) => row.rule },
    { title: "WHY", value: (row) => row.why },
  ]);
  printLine();
  printLine(`The request would be ${preview.state}.`);
  if (preview.offer !== null) printLine(`The customer would pay ${priceOf(preview.offer)} to confirm it.`);
  if (preview.justification !== null) printLine(visible(`Those who decide would read: ${preview.justification}`));
  printLine(
    preview.slackChannelId === null
      ? "It would be posted in no Slack channel."
      : `It would be posted in the Slack channel ${preview.slackChannelId}.`,
  );
  showUnasked(preview.customerUnasked, { state: preview.state });
}
