/** Checks a receipt without a database. Anybody can compute hashes, so only a head that was kept elsewhere proves that it is genuine. */
import { readFile } from "node:fs/promises";
import { checkReceipt, receiptSchema, type Receipt } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { ExitWith } from "../../exit.ts";
import { printJson, printLine, visible } from "../../output.ts";

export async function verifyReceipt(file: string, asJson: boolean): Promise<void> {
  const receipt = await readReceipt(file);
  const problems = await checkReceipt(receipt);
  const { request_id: requestId, head, events } = receipt;
  if (asJson) printJson({ requestId, events: events.map(({ seq }) => seq), head, problems });
  else if (problems.length > 0) printLine(visible(problems.join("\n")));
  else printLine(visible(renderFitting(receipt)));
  if (problems.length > 0) throw new ExitWith(1);
}

/** What a receipt without problems shows, and what is left to compare: a hash that nothing connects with the head proves nothing by it. */
function renderFitting({ request_id: id, head, events }: Receipt): string {
  const last = events.at(-1);
  if (last?.seq !== head.seq) {
    return [
      `${id}: event ${events.map(({ seq }) => seq).join(", ")} of ${head.seq} fits its hash: ${last?.hash}`,
      "The receipt does not connect it with the head. To prove it, compare this hash with that of the receipt of the whole request.",
    ].join("\n");
  }
  const what =
    events.length === head.seq ? `all ${head.seq} events fit` : `the last ${events.length} of ${head.seq} events fit`;
  return [
    `${id}: ${what} their hashes. Head: ${head.hash}`,
    "To prove that they are as they were recorded, compare the head with one that was kept elsewhere.",
  ].join("\n");
}

async function readReceipt(file: string): Promise<Receipt> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new HeadroomError("usage", `Cannot read ${file}.`, {
      detail: error instanceof Error ? error.message : String(error),
      hint: "Check the file's name and its permissions.",
      cause: error,
    });
  });
  try {
    return receiptSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new HeadroomError("usage", `${file} is not a receipt.`, {
      hint: "Give a file that headroom request receipt has written.",
      cause: error,
    });
  }
}
