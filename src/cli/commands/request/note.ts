/** `headroom request note`: adds a note to a request, without deciding anything. */
import type { Command } from "commander";
import { noteRequest } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, requireMember, type ActingOptions } from "../../acting.ts";

export function registerNote(request: Command): void {
  addCommon(
    request
      .command("note")
      .description("add a note to a request, for everybody who may read it")
      .argument("<id>", "request id", parseRequestId)
      .argument("<text>", "the note, up to 4000 characters")
      .addOption(asOption()),
  ).action(runNote);
}

async function runNote(id: string, text: string, options: ActingOptions): Promise<void> {
  const as = requireMember(options);
  const noted = orFail(await withDatabase(options, "request note", (client) => noteRequest(client, id, text, as)));
  if (options.json === true) printJson(noted);
  else printLine(`${id}: the note was added.`);
}
