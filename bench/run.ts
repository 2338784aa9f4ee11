/**
 * The benchmark: ours and the peers in turn on one throw-away server, one table of ratios.
 *
 * Owns the run from the command line to the exit code. Exit codes: 0 if everything was measured, whatever the
 * result; 1 if a suite failed, with `--strict` a target was missed, or with `--guard` something costs more; 2 for a wrong command line.
 */
import { cpus, loadavg, totalmem } from "node:os";
import { calibrate } from "./calibration.ts";
import { installedVersion } from "./contenders/version.ts";
import { guard, renderGuard, slowerRows } from "./guard/guard.ts";
import { nowMs, round, stealMs } from "./measure.ts";
import { parseOptions, UsageError, USAGE, type Options } from "./options.ts";
import { writeDocs, writeOutput } from "./report/files.ts";
import { makeReport, type Report } from "./report/report.ts";
import { renderTable } from "./report/table.ts";
import { foldResults } from "./results.ts";
import { runParts } from "./scheduler.ts";
import { startServer } from "./server.ts";

/** The part of the run's time reserved for stopping the server and writing the report. */
const CLOSING_MS = 3_000;

const log = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

async function measure(options: Options, signal: AbortSignal): Promise<Report> {
  const startedAt = new Date();
  const startedAtMs = nowMs();
  const { profile, parts } = options;
  const loadBefore = round(loadavg()[0] ?? 0, 2);
  const stealBefore = stealMs();
  log("starting a throw-away PostgreSQL");
  const server = await startServer(signal);
  try {
    const before = await calibrate(server.adminUrl);
    const deadlineMs = startedAtMs + profile.budgetSeconds * 1_000 - CLOSING_MS;
    const outcome = await runParts({ parts, profile, adminUrl: server.adminUrl, deadlineMs, signal, log });
    const after = await calibrate(server.adminUrl);
    const results = foldResults(outcome.measurements);
    return makeReport({
      parts,
      profile,
      results,
      meta: {
        startedAt: startedAt.toISOString(),
        seconds: Math.round((nowMs() - startedAtMs) / 1_000),
        secondsByPart: outcome.secondsByPart,
        profile: profile.name,
        parts: parts.map((part) => part.name),
        node: process.version,
        peers: {
          "graphile-worker": installedVersion("graphile-worker"),
          "pg-boss": installedVersion("pg-boss"),
        },
        server: server.description,
        machine: {
          cpus: cpus().length,
          cpu: cpus()[0]?.model ?? "unknown",
          memoryGb: Math.round(totalmem() / 2 ** 30),
          loadBefore,
          stealMs: stealMs() - stealBefore,
          calibrationBefore: before,
          calibrationAfter: after,
        },
        failures: outcome.failures,
        cutShort: outcome.cutShort,
      },
    });
  } finally {
    await server.stop();
  }
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (options.guard !== undefined) {
    const compared = await guard(options.guard, log);
    process.stdout.write(options.json ? `${JSON.stringify(compared)}\n` : renderGuard(compared));
    return slowerRows(compared).length > 0 ? 1 : 0;
  }
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupt.abort());
  const report = await measure(options, interrupt.signal);
  if (interrupt.signal.aborted) return 130;

  await writeOutput(report);
  // A run that failed in part or ran out of time does not go into the docs.
  const { meta, targets } = report.document;
  const whole = meta.failures.length === 0 && targets.every((target) => target.ratio !== null);
  if (options.writesDocs && whole) await writeDocs(report);
  process.stdout.write(options.json ? `${JSON.stringify(report.document)}\n` : renderTable(report));
  const missed = targets.some((target) => !target.met);
  return meta.failures.length > 0 || (options.strict && missed) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}
