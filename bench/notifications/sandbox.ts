/**
 * The sandbox in its own process, with all recipients: reports its address and, on request, what has arrived.
 *
 *     node sandbox.ts <people>
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { defaultSampleData } from "../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";

/** The arrivals by one channel: the notification's title, and when, in milliseconds since 1970. */
export interface Arrival {
  readonly title: string;
  readonly atMs: number;
}

export interface Arrivals {
  readonly email: readonly Arrival[];
  readonly slack: readonly Arrival[];
}

export interface SandboxProcess {
  readonly url: string;
  readonly pid: number;
  count(): Promise<number>;
  arrivals(): Promise<Arrivals>;
  close(): Promise<void>;
}

/** Everybody has a mail address and a Slack account. */
export const personOf = (number: number) => {
  const digits = String(number).padStart(6, "0");
  return { memberId: `m${number}`, email: `m${number}@people.example`, slackUserId: `UM${digits}` };
};

export async function startSandboxProcess(people: number): Promise<SandboxProcess> {
  const child = fork(fileURLToPath(import.meta.url), [String(people)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  const first: unknown[] = await Promise.race([once(child, "message"), gone]);
  const [url] = first;
  if (typeof url !== "string") throw new Error("the sandbox ended before it was ready");
  const ask = async <T>(what: "count" | "arrivals"): Promise<T> => {
    child.send(what);
    const answer: unknown[] = await Promise.race([once(child, "message"), gone]);
    return answer[0] as T;
  };
  return {
    url,
    pid: child.pid ?? 0,
    count: () => ask<number>("count"),
    arrivals: () => ask<Arrivals>("arrivals"),
    async close() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function serve(people: number): Promise<void> {
  const sandbox = await startSandbox({
    sampleData: {
      ...defaultSampleData,
      people: Array.from({ length: people }, (_, at) => ({
        ...personOf(at + 1),
        name: `Member ${at + 1}`,
        title: "Somebody",
      })),
    },
    secrets: {
      slackSigningSecret: "slack",
      linearWebhookSecret: "linear",
      githubWebhookSecret: "github",
      stripeWebhookSecret: "stripe",
    },
    requestLimit: 100,
    mailLimit: Number.MAX_SAFE_INTEGER,
  });
  const slack = () => sandbox.slack.channels().flatMap(({ messages }) => messages);
  process.on("message", (what) => {
    if (what === "count") process.send?.(sandbox.mail.list().length + slack().length);
    if (what !== "arrivals") return;
    const arrivals: Arrivals = {
      email: sandbox.mail.list().map(({ subject, at }) => ({ title: subject, atMs: Date.parse(at) })),
      slack: slack().map(({ text, ts }) => ({ title: text, atMs: Number(ts) * 1_000 })),
    };
    process.send?.(arrivals);
  });
  process.once("disconnect", () => process.exit(0));
  process.send?.(sandbox.url);
}

if (import.meta.main) await serve(Number(process.argv[2]));
