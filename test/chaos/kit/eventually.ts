/** Waits with a time limit; exceeding it is a failure. */
import { pause } from "../../../src/db/wait/pause.ts";
import { withTimeout } from "../../../src/db/wait/with-timeout.ts";

const boundMs = 30_000;

/** The first answer that is neither undefined nor false. */
export async function eventually<T>(
  read: () => T | false | undefined | Promise<T | false | undefined>,
  what: string,
  everyMs = 50,
): Promise<T> {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Waited too long for ${what}`);
    await pause(everyMs);
  }
}

export async function within<T>(work: Promise<T>, what: string): Promise<T> {
  const result = await withTimeout(work, boundMs);
  if (result.kind === "done") return result.value;
  throw new Error(`Waited too long for ${what}`);
}
