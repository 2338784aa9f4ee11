/** The problems that `headroom verify` reports, as findings. */
import type { Client } from "pg";
import type { Findings } from "./findings.ts";

type Verifier = (client: Client) => AsyncIterable<{
  readonly findings: readonly { readonly code: string; readonly subject: string; readonly detail: string }[];
}>;

export async function noteVerify(
  stage: { connect(): Promise<Client> },
  verifiers: readonly Verifier[],
  findings: Findings,
): Promise<void> {
  const client = await stage.connect();
  try {
    for (const verifier of verifiers) {
      for await (const { findings: found } of verifier(client))
        for (const { code, subject, detail } of found) findings.add(`verify: ${code}`, `${subject}: ${detail}`);
    }
  } finally {
    await client.end();
  }
}
