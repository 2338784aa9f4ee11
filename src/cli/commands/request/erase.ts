/** `headroom request erase`: erases what is known about a request's customer, permanently, after asking. */
import { type Command } from "commander";
import { eraseCustomer, getRequest, type Erasure, type RequestStory } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { ask } from "../../ask.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, reasonOption, requireMember, type ActingOptions } from "../../acting.ts";

interface EraseOptions extends ActingOptions {
  readonly reason: string;
  readonly yes?: true;
}

export function registerErase(request: Command): void {
  addCommon(
    request
      .command("erase")
      .description("erase what is known about a request's customer, permanently, as an admin")
      .argument("<id>", "request id", parseRequestId)
      .addOption(reasonOption("why; it is kept, so do not name the customer in it").makeOptionMandatory())
      .addOption(asOption())
      .option("--yes", "do not ask for confirmation"),
  ).action(runErase);
}

async function runErase(id: string, options: EraseOptions): Promise<void> {
  const as = requireMember(options);
  await withDatabase(options, "request erase", async (client) => {
    const { story } = orFail(await getRequest(client, id));
    // An erasure that has begun was confirmed when it began.
    if (story.erasure === null) await confirm(story, options.yes === true);
    const { erasure } = orFail(await eraseCustomer(client, id, options.reason, as));
    if (options.json === true) printJson(erasure);
    else show(erasure);
  });
}

async function confirm({ request }: RequestStory, yes: boolean): Promise<void> {
  const what = `the customer of ${request.id}`;
  const isUnknown = request.customerRef === null && request.customerId === null;
  const warning =
    `This erases permanently: the customer's name, id and address${isUnknown ? " (none is known)" : ""}, ` +
    "the reasons and notes that people wrote, and the texts of all messages about the request. " +
    "States, times and who decided are kept. Mail to the customer that has not been sent is not sent.";
  const answer = yes ? "yes" : await ask(`Erase ${what}? [y/N] `, warning);
  if (answer === "yes") return;
  if (answer === "nobody") {
    throw new HeadroomError("usage", `This would erase ${what}, and there is no terminal to ask for confirmation.`, {
      detail: warning,
      hint: "Pass --yes to do it without asking. Nothing was changed.",
    });
  }
  printLine("Nothing was changed.");
  throw new ExitWith(1);
}

/** `headroom request show` uses it too. */
export function erasureLine(erasure: Erasure): string {
  const begun = `erased by ${erasure.by} at ${erasure.at.toISOString()}`;
  return erasure.state === "done" ? begun : `${begun}; ${counted(erasure.messages.waiting)} still on the way`;
}

function counted(messages: number): string {
  return `${messages} message${messages === 1 ? "" : "s"}`;
}

function show(erasure: Erasure): void {
  const { messages, texts } = erasure;
  printLine(visible(`${erasure.requestId}: customer ${erasureLine(erasure)}.`));
  printLine(visible(`Because: ${erasure.why}`));
  printLine(
    `Erased so far: ${counted(messages.erased)}, and ${texts} text${texts === 1 ? "" : "s"} that people wrote. Not sent: ${messages.skipped}.`,
  );
  if (erasure.state === "done") return;
  printLine("Messages on the way are erased by the timers once they are delivered or given up.");
  printLine(`To see the progress: headroom request show ${erasure.requestId}`);
}
