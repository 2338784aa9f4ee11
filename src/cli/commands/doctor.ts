/** `headroom doctor`: looks at everything that must be right, and says how to mend what is not. */
import { styleText } from "node:util";
import type { Command } from "commander";
import type { Client } from "pg";
import { connect } from "../../db/connect.ts";
import { toHeadroomError } from "../../db/errors.ts";
import { databaseUrlOption, findDatabaseUrl, type DatabaseUrlOption } from "../database.ts";
import { failure, type Finding } from "../doctor/check.ts";
import { checkEngine } from "../doctor/engine-checks.ts";
import { checkProviders, sandboxProviders } from "../doctor/provider-checks.ts";
import { checkSecretKey } from "../doctor/secret-checks.ts";
import { checkGateway, checkRoles, checkSchema, checkServer, checkTimers } from "../doctor/server-checks.ts";
import { ExitWith } from "../exit.ts";
import { printJson, printLine, visible } from "../output.ts";
import { findLocalKeys } from "../secret-key.ts";

interface DoctorOptions extends DatabaseUrlOption {
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command("doctor")
    .description("check database, roles, schema, clocks, relays, rails and providers, and say how to mend")
    .addOption(databaseUrlOption())
    .option("--json", "print one JSON object")
    .action(runDoctor);
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  const providers = (await findLocalKeys(options)) === undefined ? checkProviders() : sandboxProviders;
  const findings = await examine(await findDatabaseUrl(options), providers);
  const failures = findings.filter((finding) => finding.status === "failure").length;
  const warnings = findings.filter((finding) => finding.status === "warning").length;
  if (options.json === true) printJson({ ok: failures === 0, findings });
  else show(findings, failures, warnings);
  if (failures > 0) throw new ExitWith(1);
}

/** Goes on as far as it can: what needs something that is missing is left out, since that is said already. */
async function examine(url: string, providers: Finding): Promise<Finding[]> {
  const findings: Finding[] = [];
  const open: Client[] = [];
  const usable = (): boolean => !findings.some((finding) => finding.status === "failure");
  try {
    for (let count = 0; count < 2; count += 1) open.push(await connect(url, { applicationName: "headroom doctor" }));
    const [client, rival] = open;
    if (client === undefined || rival === undefined) return findings;
    findings.push(...(await checkServer(url, client, rival)));
    findings.push(await checkRoles(client));
    if (usable()) findings.push(await checkSchema(client));
    if (usable()) findings.push(await checkGateway(client), await checkSecretKey(client), await checkTimers(client));
    if (usable()) findings.push(...(await checkEngine(client)));
    findings.push(providers);
  } catch (error) {
    const { message, detail, hint } = toHeadroomError(error);
    findings.push(failure("database", [message, detail].filter(Boolean).join(" "), hint ?? "See the message."));
  } finally {
    await Promise.allSettled(open.map((client) => client.end()));
  }
  return findings;
}

const marks = {
  ok: ["green", "ok  "],
  warning: ["yellow", "warn"],
  failure: ["red", "FAIL"],
} as const;

function show(findings: readonly Finding[], failures: number, warnings: number): void {
  const width = Math.max(...findings.map((finding) => finding.check.length));
  for (const { check, status, message, remedy } of findings) {
    const [colour, text] = marks[status];
    printLine(`${styleText(colour, text, { stream: process.stdout })}  ${check.padEnd(width)}  ${visible(message)}`);
    if (remedy !== undefined) printLine(`${" ".repeat(width + 8)}→ ${visible(remedy)}`);
  }
  printLine();
  if (failures + warnings === 0) printLine("All is well.");
  else printLine(`${failures} to mend, ${warnings} to look at.`);
}
