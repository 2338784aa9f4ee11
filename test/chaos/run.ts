/**
 * `npm run chaos`: real relays, a real database and a real receiver, hurt on purpose. Exit code 0 only when every
 * invariant holds; 2 for a wrong flag; 130 when it was interrupted.
 */
import { readCommandLine, usage, UsageError, type CommandLine } from "./command-line.ts";
import { runPlantedNotifications } from "./notifications/planted.ts";
import { runNotifications } from "./notifications/seeded-run.ts";
import { notificationsSettings } from "./notifications/settings.ts";
import { livesSettings, runLives } from "./payments/lives/run.ts";
import { runPlantedPayments } from "./payments/planted.ts";
import { runPayments } from "./payments/seeded-run.ts";
import { paymentsSettings } from "./payments/settings.ts";
import { renderPlanted, runPlanted } from "./planted/run-planted.ts";
import { runPlantedProvisioning } from "./provisioning/planted.ts";
import { renderSeeded, runSeeded } from "./provisioning/seeded-run.ts";
import { provisioningSettings } from "./provisioning/settings.ts";
import { renderRun } from "./report.ts";
import { runOnce } from "./run-once.ts";
import { ordinarySettings } from "./settings.ts";

const say = (text: string): void => console.error(text);

async function main(): Promise<number> {
  const flags = readCommandLine(process.argv.slice(2));
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  say(`seed ${flags.seed}`);
  try {
    return await run(flags, interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    say("interrupted; everything is taken down");
    return 130;
  }
}

async function run(flags: CommandLine, signal: AbortSignal): Promise<number> {
  if (flags.planted) {
    const options = { seed: flags.seed, only: flags.only, signal, onProgress: say };
    const planted = await (flags.notifications
      ? runPlantedNotifications(options)
      : flags.payments
        ? runPlantedPayments(options)
        : flags.provisioning
          ? runPlantedProvisioning(options)
          : runPlanted(options));
    console.log(flags.json ? JSON.stringify(planted) : renderPlanted(planted));
    return planted.ok ? 0 : 1;
  }
  if (flags.notifications) {
    const result = await runNotifications(notificationsSettings(flags), { signal, onProgress: say });
    console.log(flags.json ? JSON.stringify(result) : renderSeeded(result));
    return result.ok ? 0 : 1;
  }
  if (flags.payments && flags.lives !== undefined) {
    const settings = livesSettings({ ...flags, lives: flags.lives });
    const result = await runLives(settings, { signal, onProgress: say });
    console.log(flags.json ? JSON.stringify(result) : renderSeeded(result));
    return result.ok ? 0 : 1;
  }
  if (flags.payments) {
    const result = await runPayments(paymentsSettings(flags), { signal, onProgress: say });
    console.log(flags.json ? JSON.stringify(result) : renderSeeded(result));
    return result.ok ? 0 : 1;
  }
  if (flags.provisioning) {
    const result = await runSeeded(provisioningSettings(flags), { signal, onProgress: say });
    console.log(flags.json ? JSON.stringify(result) : renderSeeded(result));
    return result.ok ? 0 : 1;
  }
  const settings = ordinarySettings(flags);
  const result = await runOnce(settings, { signal, onProgress: say });
  console.log(flags.json ? JSON.stringify(result) : renderRun(result));
  return result.ok ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
