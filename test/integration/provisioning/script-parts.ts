/**
 * The parts of the workflow script, which is one file without exports: everything before its last lines, as a module.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { shippedScript } from "../../../src/sandbox/github/job-processes.ts";

export interface Heard {
  readonly answer?: unknown;
  readonly code?: string;
  readonly problem?: string;
  readonly afterMs?: number;
}

export interface ScriptParts {
  readonly post: (url: URL, secret: string, message: { readonly signal: string }) => Promise<Heard>;
  readonly outcomeOfStatus: (status: number) => string | undefined;
  readonly quietOf: (status: number, headers: Headers) => number | undefined;
  readonly patiencesMs: Readonly<Record<"claim" | "heartbeat" | "succeeded" | "failed", number>>;
  readonly callTimeoutMs: number;
}

const itsOwn = "const [name, ...words] = process.argv.slice(2);";

/** `env`: the script's environment when it is loaded. */
export async function scriptParts(env: Readonly<Record<string, string>> = {}): Promise<ScriptParts> {
  const [parts, program] = (await readFile(shippedScript, "utf8")).split(itsOwn);
  if (parts === undefined || program === undefined) throw new Error(`The script has no line ${itsOwn}`);
  const folder = await mkdtemp(join(tmpdir(), "headroom-script-"));
  const file = join(folder, "parts.mjs");
  const before = { ...process.env };
  try {
    await writeFile(file, `${parts}\nexport { post, outcomeOfStatus, quietOf, patiencesMs, callTimeoutMs };\n`);
    Object.assign(process.env, env);
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as ScriptParts;
  } finally {
    process.env = before;
    await rm(folder, { recursive: true });
  }
}
