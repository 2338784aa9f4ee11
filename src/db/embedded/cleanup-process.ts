/**
 * Clears away a throw-away server whose starter was killed: a small shell process that waits for the end of a pipe.
 *
 * The pipe's other end is ours alone, and the kernel closes it however we end, kill -9 included. An exit handler
 * would not run then, and the server and its folder would stay behind for ever.
 */
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";

export interface CleanupProcess {
  /** To be called when the server is down: removes the folder, and resolves when the helper process is gone. */
  finish(): Promise<void>;
}

// $1 is the data folder, $2 what is to be removed. The server's pid is read late: it does not exist yet at the start.
const script = `
cat >/dev/null
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
  kill -INT "$pid" 2>/dev/null
  i=0
  while kill -0 "$pid" 2>/dev/null && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
  kill -0 "$pid" 2>/dev/null && kill -QUIT "$pid" && sleep 1
fi
rm -rf -- "$2"
`;

export function startCleanupProcess(home: string, clusterDir: string): CleanupProcess {
  const child = spawn("/bin/sh", ["-c", script, "headroom-cleanup", clusterDir, home], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((fulfil) => {
    child.once("exit", () => fulfil());
    child.once("error", () => fulfil());
  });
  child.stdin.on("error", () => undefined);
  child.unref();
  // A child's stdin is a socket, whose handle would keep an otherwise finished process alive.
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  return {
    async finish() {
      child.ref();
      child.stdin.end();
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}
