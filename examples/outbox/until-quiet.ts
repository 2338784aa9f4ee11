/** Waits until nothing of a stream is pending or in flight; an example has to end. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";

export async function untilQuiet(client: Client, stream: string, boundMs = 30_000): Promise<void> {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const { rows } = await client.query<{ busy: boolean }>(
      "select pending + in_flight > 0 as busy from outbox.status() where stream = $1",
      [stream],
    );
    if (rows[0]?.busy === false) return;
    if (performance.now() > deadline) throw new Error(`${stream} is still busy.`);
    await delay(50);
  }
}
