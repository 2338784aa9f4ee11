/**
 * The receiver as a separate process: `node receiver-process.ts '<options as JSON>'`.
 *
 * Prints one line of JSON when ready (url, controlUrl, pid) and runs until SIGTERM, or until its standard input ends, which happens when
 * the parent dies: it never outlives a run that was killed.
 */
import { z } from "zod";
import { startReceiverControl } from "./receiver-control.ts";
import { faultPlanSchema } from "./receiver-faults.ts";
import { startReceiver } from "./receiver.ts";

const optionsSchema = z.object({
  port: z.int().default(0),
  controlPort: z.int().default(0),
  secrets: z.array(z.string()).default([]),
  toleranceSeconds: z.number().nullable().default(300),
  keepHeaders: z.boolean().default(true),
  faults: faultPlanSchema.prefault({}),
});

const { controlPort, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
const receiver = await startReceiver(options);
const control = await startReceiverControl(receiver, controlPort);

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  process.stdin.destroy();
  await Promise.all([receiver.close(), control.close()]);
}

process.on("SIGTERM", () => void stop());
process.on("SIGINT", () => void stop());
process.stdin.on("end", () => void stop());
process.stdin.resume();
console.log(JSON.stringify({ url: receiver.url, controlUrl: control.url, pid: process.pid }));
