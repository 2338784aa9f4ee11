/** `headroom serve` as a separate process, and tokens that it accepts. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { signToken, type TokenClaims } from "../src/cli/make-keys.ts";

const PROGRAM = fileURLToPath(new URL("../bin/headroom.js", import.meta.url));
const JWT_SECRET = "a-secret-that-lives-as-long-as-this-run";

export interface ServeProcess {
  readonly url: URL;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startServe(
  gatewayUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0"], {
    env: { PATH: process.env["PATH"], HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: JWT_SECRET, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { url: await urlOf(child), pid: child.pid ?? 0, stop: () => stop(child) };
}

async function urlOf({ stdout }: ChildProcess): Promise<URL> {
  if (stdout === null) throw new Error("the server's output is not read");
  for await (const line of createInterface({ input: stdout })) {
    const found = /^server\s+(http:\S+)/.exec(line)?.[1];
    if (found === undefined) continue;
    stdout.resume();
    return new URL(found);
  }
  throw new Error("the server did not start");
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await closed;
}

export const tokenFor = (claims: TokenClaims): Promise<string> =>
  signToken(claims, { jwtSecret: JWT_SECRET, expiresAt: null });

export const memberClaims = (memberId: string, workspaceId = "default"): TokenClaims => ({
  role: "authenticated",
  sub: memberId,
  app_metadata: { workspace_id: workspaceId, member_id: memberId },
});
