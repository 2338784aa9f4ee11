/** `headroom relay`: delivers rows until it is stopped. */
import type { Command } from "commander";
import { openSidePool } from "../../db/side-pool.ts";
import { databaseUrlOption, findDatabaseUrl, type DatabaseUrlOption } from "../database.ts";
import { printLine } from "../output.ts";
import { createLog } from "../relay/log.ts";
import { keepMemorySmall } from "../relay/memory.ts";
import { addRelayOptions, allowLoopback, type RelayCommandOptions } from "../relay/options.ts";
import { loadRails } from "../relay/rails.ts";
import { describeStart, runRelay } from "../relay/run.ts";
import { findLocalKeys } from "../secret-key.ts";
import { watchSignals } from "../signals.ts";

interface RelayOptions extends DatabaseUrlOption, RelayCommandOptions {}

export function register(program: Command): void {
  addRelayOptions(
    program.command("relay").description("deliver rows until SIGTERM or Ctrl-C; a second one ends it immediately"),
  )
    .addOption(databaseUrlOption())
    .option("--json", "log one JSON object a line")
    .action(runCommand);
}

async function runCommand(options: RelayOptions): Promise<void> {
  keepMemorySmall();
  const json = options.json === true;
  const url = await findDatabaseUrl(options);
  const log = createLog(json);
  const keys = await findLocalKeys(options);
  const side = openSidePool(url);
  const signals = watchSignals((signal) =>
    log({
      level: "info",
      event: "stopping",
      message: `${signal}: calls under way are finished; a second signal ends it immediately`,
    }),
  );
  try {
    const rails =
      keys === undefined
        ? await loadRails(options, { side, log })
        : await loadRails(allowLoopback(options), {
            side,
            log,
            environment: { ...process.env, HEADROOM_SECRET_KEY: process.env["HEADROOM_SECRET_KEY"] || keys.secretKey },
          });
    const running = await runRelay(url, side, rails, options, log);
    if (json)
      announce(
        running.rails.map((rail) => rail.name),
        running.metricsUrl,
      );
    else for (const line of describeStart(url, running, options)) printLine(line);
    await signals.stopped;
    await running.stop();
  } finally {
    await side.end();
    signals.dispose();
  }
}

/** For programs: the line that reports that the relay is ready. */
function announce(rails: readonly string[], metricsUrl: string | undefined): void {
  printLine(
    JSON.stringify({
      time: new Date().toISOString(),
      level: "info",
      event: "relay_ready",
      rails,
      ...(metricsUrl === undefined ? {} : { metricsUrl }),
    }),
  );
}
