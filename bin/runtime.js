/**
 * Which Node runs the command line: this one, if it is new enough, or the one that npm installed with us.
 *
 * Plain JavaScript that old versions can read, because they must be able to run it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

/** An installed package is compiled, and runs wherever the library does; a checkout needs a Node that runs TypeScript directly. */
export const isInstalled = import.meta.url.includes("/node_modules/");
const least = isInstalled ? { major: 20, minor: 18 } : { major: 22, minor: 18 };

/** Runs the program again under a newer Node when this one is too old; true if it did, or if there is none. */
export async function handOver(program) {
  if (isNewEnough(process.versions.node)) return false;
  const newer = findNewerNode();
  if (newer === undefined) {
    process.stderr.write(
      `headroom: this is Node.js ${process.versions.node}; it needs ${least.major}.${least.minor} or newer. ` +
        "In a checkout, `npm ci` installs one that is used automatically. Nothing was started.\n",
    );
    process.exitCode = 1;
  } else {
    process.exitCode = await runUnder(newer, program);
  }
  return true;
}

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > least.major || (major === least.major && minor >= least.minor);
}

/** The npm package `node` is a Node. */
function findNewerNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const path = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
    return isNewEnough(JSON.parse(readFileSync(manifest, "utf8")).version) && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Forwards signals to the child and exits with its status. */
async function runUnder(node, program) {
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: "inherit" });
  const pass = (signal) => child.kill(signal);
  process.on("SIGTERM", pass);
  // A terminal sends Ctrl-C to both processes, and a second one would end the program immediately.
  process.on("SIGINT", (signal) => process.stdin.isTTY || pass(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
