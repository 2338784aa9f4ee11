/**
 * Cleans up after a temporary server whose starter was killed: a small shell process that waits for the end of a pipe.
 *
 * Only we hold the pipe's other end, and the kernel closes it however we end, kill -9 included. An exit handler
 * would not run then, and the server and its folder would stay behind forever.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { spawnIdentity, type RunAs } from "./system-user.ts";

export interface CleanupProcess {
  /** Call it when the server is down: removes the folder, and resolves when no helper process is left. */
  finish(): Promise<void>;
}

const wait = `
cat >/dev/null
`;

// $1 is the data folder, $2 the folder to remove. The server's pid is read late: it does not exist yet at the start. A pid file may
// outlive its server, and another process may have its number by then.
const stopServer = `
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null)
case $pid in *[!0-9]*) pid= ;; esac
serves() {
  [ -n "$pid" ] || return 1
  command=$(tr '\\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null || ps -ww -o command= -p "$pid" 2>/dev/null)
  case "$command " in *postgres*" -D $1 "*) return 0 ;; esac
  return 1
}
if serves "$1"; then
  kill -INT "$pid" 2>/dev/null
  i=0
  while serves "$1" && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
  serves "$1" && kill -QUIT "$pid" && sleep 1
fi
rm -rf -- "$2"/server*/cluster 2>/dev/null
`;

// The server's user could change its files there while we remove them, so root does not enter the folder.
const removeFolder = `
for folder in "$2"/server*/cluster; do
  if [ -e "$folder" ] || [ -L "$folder" ]; then rmdir -- "$folder" || exit 1; fi
done
rm -rf -- "$2"
`;

/**
 * As root it is two processes; the second waits for the end of the first. Files of the server's user are trusted and removed with that
 * user's rights only.
 */
export function startCleanupProcess(home: string, clusterDir: string, runAs?: RunAs): CleanupProcess {
  const start = (script: string, user: RunAs, stdio: StdioOptions): ChildProcess =>
    spawn("/bin/sh", ["-c", script, "headroom-cleanup", clusterDir, home], {
      ...spawnIdentity(user),
      detached: true,
      stdio,
    });
  const started: ChildProcess[] = [];
  if (runAs === undefined) {
    started.push(start(wait + stopServer + removeFolder, undefined, ["pipe", "ignore", "ignore"]));
  } else {
    const remover = start(wait + removeFolder, undefined, ["pipe", "ignore", "ignore"]);
    started.push(start(wait + stopServer, runAs, ["pipe", remover.stdin, "ignore"]), remover);
    remover.stdin?.destroy();
  }
  const [first] = started;
  const ended = Promise.all(started.map(whenEnded));
  for (const child of started) child.unref();
  const input = first?.stdin;
  input?.on("error", () => undefined);
  // A child's stdin is a socket, whose handle would keep an otherwise finished process alive.
  if (input && "unref" in input && typeof input.unref === "function") input.unref();
  return {
    async finish() {
      for (const child of started) child.ref();
      input?.end();
      await ended;
    },
  };
}

function whenEnded(child: ChildProcess): Promise<void> {
  return new Promise((fulfil) => {
    child.once("exit", () => fulfil());
    child.once("error", () => fulfil());
  });
}
