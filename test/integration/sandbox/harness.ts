/**
 * A sandbox and a fake Headroom that only records: it keeps what arrives, byte for byte, and answers as a test says.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../../src/sandbox/sandbox.ts";

export interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly body?: string;
  /** Never answers. */
  readonly silent?: boolean;
}

export interface Ear {
  readonly url: string;
  readonly heard: Heard[];
  /** Answers to the next calls, in turn; afterwards an empty 200. */
  readonly replies: Reply[];
  /** Resolves once that many calls were received. */
  heardAtLeast(count: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export const secrets = {
  slackSigningSecret: "8f742231b10e8888abcd99yyyzzz85a5",
  linearWebhookSecret: "lin_wh_sandbox",
  githubWebhookSecret: "github-sandbox",
  stripeWebhookSecret: "whsec_sandbox",
} as const;

export async function startEar(): Promise<Ear> {
  const heard: Heard[] = [];
  const replies: Reply[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      heard.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() });
      for (const look of waiting) look();
      const reply = replies.shift() ?? {};
      if (reply.silent === true) return;
      response.writeHead(reply.status ?? 200, { "content-type": "application/json" });
      response.end(reply.body ?? "");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    replies,
    async heardAtLeast(count, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => void (heard.length >= count && resolve());
      const abort = (): void => reject(new Error(`heard ${heard.length} of ${count}`));
      waiting.add(look);
      signal.addEventListener("abort", abort);
      look();
      await promise.finally(() => waiting.delete(look));
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface Stage {
  readonly sandbox: Sandbox;
  readonly ear: Ear;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function setStage(options: Partial<SandboxOptions> = {}): Promise<Stage> {
  const ear = await startEar();
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets, ...options });
  sandbox.connect({ headroomUrl: ear.url });
  return {
    sandbox,
    ear,
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await ear.close();
    },
  };
}
