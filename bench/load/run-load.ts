/**
 * Runs a script from many clients at once and counts transactions per second: with pgbench if it is installed,
 * because it leaves the processor to the server, otherwise with our own Node processes.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LOAD_PREFIX, WARM_UP_SECONDS } from "./protocol.ts";

const NODE_CLIENT = fileURLToPath(new URL("./node-client.ts", import.meta.url));
const PROCESSES = 2;
const GRACE_SECONDS = 20;

export interface LoadOptions {
  readonly url: string;
  /** The script's file. */
  readonly file: string;
  readonly clients: number;
  /** The measured time; each client plans its statements before it. */
  readonly seconds: number;
  /** Constants that the script names as `:name`. */
  readonly constants: Readonly<Record<string, number>>;
}

export interface LoadOutcome {
  readonly tool: "pgbench" | "node";
  readonly perSecond: number;
}

let pgbenchFound: boolean | null = null;

export async function runLoad(options: LoadOptions): Promise<LoadOutcome> {
  pgbenchFound ??= await hasPgbench();
  return pgbenchFound
    ? { tool: "pgbench", perSecond: await runPgbench(options) }
    : { tool: "node", perSecond: await runNode(options) };
}

const hasPgbench = (): Promise<boolean> =>
  capture("pgbench", ["--version"], 5).then(
    () => true,
    () => false,
  );

async function runPgbench({ url, file, clients, seconds, constants }: LoadOptions): Promise<number> {
  const defines = Object.entries(constants).flatMap(([name, value]) => ["-D", `${name}=${value}`]);
  const duration = String(seconds + WARM_UP_SECONDS);
  const sizes = ["-c", String(clients), "-j", String(Math.min(clients, PROCESSES)), "-T", duration, "-P", "1"];
  const args = ["-n", "-M", "prepared", ...sizes, ...defines, "-f", file, url];
  const output = await capture("pgbench", args, seconds + GRACE_SECONDS);
  const perSecond = [...output.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)].map((found) => Number(found[1]));
  const counted = perSecond.slice(WARM_UP_SECONDS);
  if (counted.length === 0 || /number of failed transactions: [1-9]/.test(output)) {
    throw new Error(`pgbench did not get through ${file}: ${output}`);
  }
  return counted.reduce((sum, rate) => sum + rate, 0) / counted.length;
}

async function runNode({ url, file, clients, seconds, constants }: LoadOptions): Promise<number> {
  const share = Math.ceil(clients / PROCESSES);
  const one = async (): Promise<number> => {
    const args = [NODE_CLIENT, url, file, String(share), String(seconds), JSON.stringify(constants)];
    const output = await capture(process.execPath, args, seconds + GRACE_SECONDS);
    const line = output.split("\n").find((candidate) => candidate.startsWith(LOAD_PREFIX));
    if (line === undefined) throw new Error(`the load on ${file} reported nothing: ${output}`);
    return Number(line.slice(LOAD_PREFIX.length));
  };
  const rates = await Promise.all(Array.from({ length: PROCESSES }, one));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** Runs a program to its end and returns its output; fails on a bad exit code or when time is up. */
function capture(program: string, args: readonly string[], limitSeconds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: limitSeconds * 1_000 });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code ?? "a signal"}: ${output.slice(-2_000)}`));
    });
  });
}
