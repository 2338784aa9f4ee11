/** The command line under a Node that is too old: it continues under the one that npm installed, or says what it needs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { headroom, program } from "../harness.ts";

/** Only the version that the program reads is old; a Node that it starts is the real one. */
function versionIs(version: string): string {
  const source = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

async function underNode(version: string, path: string, parameters: readonly string[]) {
  const child = spawn(process.execPath, ["--import", versionIs(version), path, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1" },
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, out, err };
}

/** A copy without an installed Node. */
async function lonelyProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "headroom-old-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(dirname(program), join(folder, "bin"), { recursive: true });
  return join(folder, "bin", "headroom.js");
}

test("an old Node hands over to the one that npm installed, with its arguments and its exit code", async () => {
  const version = await headroom(["--version"]);
  expect(await underNode("20.20.2", program, ["--version"])).toEqual({ ...version, status: 0 });
  const wrong = await headroom(["no-such-command"]);
  expect(wrong.status).not.toBe(0);
  expect(await underNode("22.17.9", program, ["no-such-command"])).toEqual(wrong);
});

test("an old Node without another installed says which version is needed, and starts nothing", async () => {
  const outcome = await underNode("20.20.2", await lonelyProgram(), ["up"]);
  expect(outcome).toMatchObject({ status: 1, out: "" });
  expect(outcome.err).toBe(
    "headroom: this is Node.js 20.20.2; it needs 22.18 or newer. In a checkout, `npm ci` installs one that is used automatically. Nothing was started.\n",
  );
});

test.for(["22.18.0", "23.0.0", "24.21.0"])("Node %s is new enough to run it directly", async (version) => {
  // The copy has no commands: the failed search for them proves that it continued.
  const outcome = await underNode(version, await lonelyProgram(), ["--version"]);
  expect(outcome.err).toContain("ERR_MODULE_NOT_FOUND");
});
