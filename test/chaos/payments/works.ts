/**
 * A stand-in for GitHub's workflow runs: it counts dispatches and forgets none. Single dispatches and how runs
 * end are tested in ../provisioning; here only that each payment leads to one.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export interface Run {
  readonly id: number;
  readonly mark: string;
  readonly jobId: string;
  readonly task: "provision" | "cleanup";
  readonly attempt: number;
}

export interface Works {
  readonly url: string;
  /** All started runs, oldest first. */
  readonly runs: readonly Run[];
  /** The share of dispatches that is carried out and answered with 500. */
  setFaults(share: number, random: () => number): void;
  close(): Promise<void>;
}

const payloadSchema = z.object({
  job_id: z.string(),
  inputs: z.object({ task: z.enum(["provision", "cleanup"]), attempt: z.coerce.number() }),
});

/** Within this time a cut connection is noticed. */
const settleMs = 5;

export async function startWorks(): Promise<Works> {
  const runs: Run[] = [];
  const byMark = new Map<string, Run>();
  let faults = { share: 0, random: Math.random };

  function start(mark: string, body: string): Run {
    const { job_id: jobId, inputs } = payloadSchema.parse(JSON.parse(body));
    const run = { id: 7_000_000 + runs.length, mark, jobId, ...inputs };
    runs.push(run);
    byMark.set(mark, run);
    return run;
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => setTimeout(answer, settleMs));
    function answer(): void {
      // If the caller has hung up, nothing is done: it will ask, and the run must not start after it was told that none had.
      if (response.destroyed || request.socket.destroyed) return;
      const mark = decodeURIComponent((request.url ?? "").split("/").at(-1) ?? "");
      const isDispatch = request.method === "POST";
      const run = isDispatch ? start(mark, Buffer.concat(chunks).toString()) : byMark.get(mark);
      const fails = isDispatch && faults.random() < faults.share;
      response.writeHead(fails ? 500 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ run: run === undefined ? null : { id: run.id } }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    setFaults(share, random) {
      faults = { share, random };
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
