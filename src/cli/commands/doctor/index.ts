/** `headroom doctor`: checks everything that the installation needs, and says how to fix what is wrong. */
import { styleText } from "node:util";
import type { Command } from "commander";
import type { Client } from "pg";
import { connect } from "../../../db/connect.ts";
import { toHeadroomError } from "../../../db/errors.ts";
import { addTheRest, isEngineAlone, readInstalledParts } from "../../../db/installed.ts";
import type { SecretKey } from "../../../db/secrets/secret-key.ts";
import { databaseUrlOption, findDatabaseUrl, type DatabaseUrlOption } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { printJson, printLine, startProgress, visible } from "../../output.ts";
import type { Environment } from "../../relay/provider-rails.ts";
import { findLocalKeys, findSecretKey, secretKeyOption, type SecretKeyOption } from "../../secret-key.ts";
import { checkBilling } from "./billing-checks.ts";
import { checkEngine } from "./engine-checks.ts";
import { checkExtensions } from "./extension-checks.ts";
import { readFacts, type Facts } from "./facts.ts";
import { failure, skipped, type Finding } from "./finding.ts";
import { checkHttp } from "./gateway-checks.ts";
import { checkJit } from "./jit-check.ts";
import { checkNotifications } from "./notify-checks.ts";
import { checkProviders, sandboxProviders, type Surroundings } from "./provider-checks.ts";
import { checkProvisioning } from "./provisioning-checks.ts";
import { checkRoles, checkSchema, checkServer } from "./server-checks.ts";
import { checkServerLog } from "./server-log-check.ts";
import { checkTimers } from "./timer-checks.ts";
import { checkWorkflow } from "./workflow-checks.ts";

interface DoctorOptions extends DatabaseUrlOption, SecretKeyOption {
  readonly offline?: boolean;
  readonly json?: boolean;
}

const groups = ["database", "server", "workflow", "delivery", "providers"] as const;

interface GroupedFinding extends Finding {
  readonly group: (typeof groups)[number];
}

export function register(program: Command): void {
  program
    .command("doctor")
    .description("check the installation, from its database to its providers, and say how to fix what is wrong")
    .addOption(databaseUrlOption())
    .addOption(secretKeyOption())
    .option("--offline", "contact no provider and no public address")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nWhat is needed follows from the database: which workspaces are in use, what they are connected to, which rows wait. Run it in the\nenvironment of the server or of a relay: then it also tries the server's login, the key to the secrets and the providers. It changes nothing.\nExit code 1 when something has to be fixed.",
    )
    .action(runDoctor);
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  const findings = await examine(await findDatabaseUrl(options), {
    environment: process.env,
    secretKey: await findSecretKey(options),
    sandbox: (await findLocalKeys(options)) !== undefined,
    offline: options.offline === true,
  });
  const failed = findings.filter((finding) => finding.status === "failure");
  const warned = findings.filter((finding) => finding.status === "warning");
  const first = [...failed, ...warned][0];
  if (options.json === true) printJson({ ok: failed.length === 0, first: first?.remedy ?? null, findings });
  else show(findings, failed.length, warned.length, first);
  if (failed.length > 0) throw new ExitWith(1);
}

interface Circumstances {
  readonly environment: Environment;
  readonly secretKey: SecretKey | undefined;
  /** Next to a running `headroom up`, which has its own providers. */
  readonly sandbox: boolean;
  readonly offline: boolean;
}

/** Checks as much as possible: a check that depends on a failed one is left out, since that failure is reported. */
async function examine(url: string, place: Circumstances): Promise<GroupedFinding[]> {
  const findings: GroupedFinding[] = [];
  const progress = startProgress("Checking");
  const add = (group: GroupedFinding["group"], found: readonly Finding[]): void => {
    findings.push(...found.map((finding) => ({ group, ...finding })));
    progress.update(groups.indexOf(group) + 1, groups.length);
  };
  const open: Client[] = [];
  let facts: Facts | undefined;
  try {
    for (let count = 0; count < 2; count += 1) open.push(await connect(url, { applicationName: "headroom doctor" }));
    const [client, rival] = open;
    if (client === undefined || rival === undefined) return findings;
    add("database", await checkServer(url, client, rival));
    const parts = await readInstalledParts(client);
    add("database", [await checkRoles(client, parts)]);
    if (isSound(findings)) add("database", await checkSchema(client, parts));
    if (isSound(findings)) {
      add("database", [...(await checkExtensions(client)), await checkServerLog(client), await checkJit(client)]);
      facts = await readFacts(client, place.environment, place.secretKey, parts);
      if (isEngineAlone(parts)) add("workflow", [skipped("workflow", "Only the engine is installed.", addTheRest)]);
      else {
        add("server", await checkHttp(client, facts));
        add("workflow", [
          ...(await checkWorkflow(client, facts, place.offline)),
          ...checkProvisioning(facts),
          ...checkBilling(facts),
          ...(await checkTimers(client, facts)),
          ...(await checkNotifications(client)),
        ]);
      }
      add("delivery", await checkEngine(client, facts));
    }
  } catch (error) {
    const { message, detail, hint } = toHeadroomError(error);
    add("database", [
      failure(
        "database",
        [message, detail].filter(Boolean).join(" "),
        hint ?? "Fix what the message names, then run headroom doctor again.",
      ),
    ]);
  } finally {
    await Promise.allSettled(open.map((client) => client.end()));
  }
  const surroundings: Surroundings = facts ?? {
    environment: place.environment,
    workspaces: undefined,
    connected: undefined,
    money: undefined,
    rails: [],
    credentials: { values: undefined, stored: [] },
  };
  add("providers", place.sandbox ? [sandboxProviders] : await checkProviders(surroundings, place.offline));
  progress.finish();
  return findings.toSorted((left, right) => groups.indexOf(left.group) - groups.indexOf(right.group));
}

function isSound(findings: readonly Finding[]): boolean {
  return !findings.some((finding) => finding.status === "failure");
}

const marks = {
  ok: ["green", "ok  "],
  warning: ["yellow", "warn"],
  failure: ["red", "FAIL"],
  skipped: ["gray", "skip"],
} as const;

function show(
  findings: readonly GroupedFinding[],
  failures: number,
  warnings: number,
  first: GroupedFinding | undefined,
): void {
  const width = Math.max(...findings.map((finding) => finding.check.length));
  for (const group of groups.filter((name) => findings.some((finding) => finding.group === name))) {
    printLine(styleText("bold", group, { stream: process.stdout }));
    for (const { check, status, message, remedy } of findings.filter((finding) => finding.group === group)) {
      const [colour, text] = marks[status];
      printLine(`${styleText(colour, text, { stream: process.stdout })}  ${check.padEnd(width)}  ${visible(message)}`);
      if (remedy !== undefined) printLine(`${" ".repeat(width + 8)}→ ${visible(remedy)}`);
    }
    printLine();
  }
  const untold = findings.filter((finding) => finding.status === "skipped").length;
  const rest = untold === 0 ? "" : ` ${untold === 1 ? "1 check" : `${untold} checks`} could not be made from here.`;
  if (failures + warnings === 0)
    return printLine(untold === 0 ? "All is well." : `Everything that was checked is well.${rest}`);
  printLine(`${failures} to fix, ${warnings} to look at.${rest}`);
  if (first !== undefined) printLine(`Start with ${first.check}: ${visible(first.remedy ?? "")}`);
}
