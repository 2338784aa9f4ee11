/** Checks a receipt without a database: it proves itself, and a file of heads proves which day's chain it belongs to. */
import { readFile } from "node:fs/promises";
import { checkReceipt, receiptSchema, type Receipt } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { ExitWith } from "../../exit.ts";
import { printJson, printLine, visible } from "../../output.ts";

export async function verifyReceipt(file: string, asJson: boolean): Promise<void> {
  const receipt = await readReceipt(file);
  const problems = await checkReceipt(receipt);
  const { request_id: id, head, events } = receipt;
  const numbers = events.map(({ seq }) => seq);
  if (asJson) printJson({ requestId: id, events: numbers, head, problems });
  else if (problems.length > 0) printLine(visible(problems.join("\n")));
  else {
    const what =
      numbers.length === head.seq
        ? `all ${head.seq} events are as they were recorded`
        : `event ${numbers.join(", ")} of ${head.seq} is as it was recorded`;
    printLine(visible(`${id}: ${what}. Head: ${head.hash}`));
    printLine("To prove that nothing was added or removed since, compare the head with one that was kept elsewhere.");
  }
  if (problems.length > 0) throw new ExitWith(1);
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
