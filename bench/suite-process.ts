/**
 * The process of one suite: makes its database, runs the suite, reports each measurement as a line on stdout, and
 * drops the database again. Started by the scheduler, which ends it if it takes too long.
 */
import { createDatabase, databaseName, dropDatabase } from "./database.ts";
import type { SuiteSpec } from "./model.ts";
import { RESULT_PREFIX } from "./protocol.ts";
import { loadSuite } from "./suites/registry.ts";
import { SuiteParams } from "./suites/suite.ts";

async function main(): Promise<void> {
  const [specText, adminUrl] = process.argv.slice(2);
  if (!specText || !adminUrl) throw new Error("usage: suite-process.ts <suite as JSON> <admin URL>");
  const spec: SuiteSpec = JSON.parse(specText);
  const name = databaseName(spec.id);
  const url = await createDatabase(adminUrl, name);
  const suite = await loadSuite(spec.suite);
  await suite({
    url,
    params: new SuiteParams(spec.params),
    emit: (measurement) => process.stdout.write(`${RESULT_PREFIX}${JSON.stringify(measurement)}\n`),
    log: (message) => process.stderr.write(`${spec.id}: ${message}\n`),
  });
  // After a failure the scheduler drops it: here connections may still be open, and closing them would hide the cause.
  await dropDatabase(adminUrl, name);
}

try {
  await main();
  // A peer may leave a timer behind; the measurement is finished.
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
