/**
 * The receipt of a request: the texts and hashes of its events, which can be checked without the database. Runs wherever Web Crypto does:
 * each hash is SHA-256 of the bytes of the hash before, none for the first event, and of the event's text in UTF-8.
 *
 * Owns: the form of a receipt, and what it proves. Does not own: who may have one.
 */
import { z } from "zod";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const seq = z.int().positive();
/** Half a surrogate pair has no form in UTF-8: it would be hashed as the replacement character, which another text may contain. */
const wellFormed = z.string().refine((text) => text.isWellFormed());
export const receiptSchema = z.object({
  receipt: z.literal(1),
  request_id: z.string(),
  head: z.object({ seq, hash }),
  events: z.array(z.object({ seq, previous: hash.nullable(), text: wellFormed, hash })).min(1),
});
export type Receipt = z.infer<typeof receiptSchema>;

/**
 * What is wrong with a receipt, one sentence each; empty if its texts and hashes fit together. Only its last hash, compared with one that
 * was kept elsewhere, proves that they are genuine.
 */
export async function checkReceipt(receipt: unknown): Promise<readonly string[]> {
  const parsed = receiptSchema.safeParse(receipt);
  if (!parsed.success) return ["This is not a receipt."];
  const { request_id: id, head, events } = parsed.data;
  const problems: string[] = [];
  let last: Receipt["events"][number] | undefined;
  for (const event of events) {
    const [ofRequest, ofSeq] = namesOf(event.text);
    if (ofRequest !== id || ofSeq !== event.seq)
      problems.push(`The text of event ${event.seq} is not that of event ${event.seq} of ${id}.`);
    if ((event.previous === null) !== (event.seq === 1))
      problems.push(
        `Event ${event.seq} ${event.previous === null ? "names no event before it" : "must be the first"}.`,
      );
    if (last !== undefined && event.seq !== last.seq + 1)
      problems.push(`Event ${event.seq} follows event ${last.seq}: events are missing.`);
    else if (last !== undefined && event.previous !== last.hash)
      problems.push(`Event ${event.seq} does not continue event ${last.seq}.`);
    if ((await hashOf(event.previous ?? "", event.text)) !== event.hash)
      problems.push(`The hash of event ${event.seq} is not that of its text.`);
    last = event;
  }
  if (last !== undefined && last.seq > head.seq)
    problems.push(`The head is event ${head.seq}, before event ${last.seq}.`);
  if (last?.seq === head.seq && last.hash !== head.hash) problems.push("The head is not the hash of the last event.");
  return problems;
}

/** The request and the number that an event's text begins with. */
function namesOf(text: string): readonly unknown[] {
  try {
    return z.array(z.unknown()).parse(JSON.parse(text));
  } catch {
    return [];
  }
}

async function hashOf(previous: string, text: string): Promise<string> {
  const before = (previous.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...before, ...new TextEncoder().encode(text)]));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
