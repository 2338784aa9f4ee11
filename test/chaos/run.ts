/**
 * `npm run chaos`: real relays, a real database and real receivers, with injected faults. Exit code 0 only if every invariant holds; 1 if
 * one is broken, or a planted bug is missed; 2 for a wrong flag; 130 when it was interrupted.
 */
import { readCommandLine, usageOf, UsageError } from "./kit/command-line.ts";
import { renderPlanted, renderRun } from "./kit/report.ts";
import { subjects } from "./subjects.ts";

const say = (text: string): void => console.error(text);

async function main(): Promise<number> {
  const { subject, planted, json, only, ...flags } = readCommandLine(process.argv.slice(2), subjects);
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  say(`seed ${flags.seed}`);
  const hooks = { signal: interrupt.signal, onProgress: say };
  try {
    if (planted) {
      const result = await subject.planted({ seed: flags.seed, only, ...hooks });
      console.log(json ? JSON.stringify(result) : renderPlanted(result));
      return result.ok ? 0 : 1;
    }
    const result = await subject.run(flags, hooks);
    console.log(json ? JSON.stringify(result) : renderRun(result));
    return result.ok ? 0 : 1;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    say("interrupted; stopping everything");
    return 130;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  say(`${error.message}\n\n${usageOf(subjects)}`);
  process.exitCode = 2;
}
