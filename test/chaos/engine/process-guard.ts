/**
 * Ends relay processes whose starter was killed: a shell process that waits for the end of a pipe.
 *
 * A relay exits when its input ends, but a stopped one (SIGSTOP) never notices. Only processes that were
 * registered here are ended, by pid.
 */
import { spawn } from "node:child_process";

export interface ProcessGuard {
  watch(pid: number): void;
  forget(pid: number): void;
  /** Ends the guard and all processes that it still watches. */
  close(): Promise<void>;
}

const script = `
pids=
while read -r word pid; do
  rest=
  for known in $pids; do [ "$known" = "$pid" ] || rest="$rest $known"; done
  pids=$rest
  [ "$word" = watch ] && pids="$pids $pid"
done
for known in $pids; do kill -9 "$known" 2>/dev/null; done
exit 0
`;

export function startProcessGuard(): ProcessGuard {
  const child = spawn("/bin/sh", ["-c", script, "chaos-guard"], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((fulfil) => {
    child.once("exit", () => fulfil());
    child.once("error", () => fulfil());
  });
  child.stdin.on("error", () => undefined);
  return {
    watch: (pid) => void child.stdin.write(`watch ${pid}\n`),
    forget: (pid) => void child.stdin.write(`forget ${pid}\n`),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
