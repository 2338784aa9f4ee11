/**
 * `headroom endpoint test`: sends a signed ping in the same way as all webhooks, and shows the outcome.
 *
 * The ping is a row like any other: this tests the relay, its key, its network and the receiver, not the network of this
 * command. A failed ping does not stay among the dead letters.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Client } from "pg";
import { z } from "zod";
import { call } from "../../../db/call.ts";
import { pingEndpoint } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, visible } from "../../output.ts";
import { readRelays } from "../../relay/read-relays.ts";
import { ownerOption, type OwnerOption } from "./owner.ts";

interface TestOptions extends CommonOptions, OwnerOption {
  readonly wait: number;
}

export function registerTest(endpoint: Command): void {
  addCommon(
    endpoint
      .command("test")
      .description("send a signed test event (headroom.ping) and show the outcome")
      .argument("<name>", "the endpoint")
      .option("--wait <seconds>", "how long to wait for an outcome", parseWhole(1, 60), 20)
      .addOption(ownerOption()),
  ).action(runTest);
}

const lineSchema = z.object({
  state: z.string(),
  latency_ms: z.number().optional(),
  rail_code: z.string().optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
});
const rowSchema = z.object({ place: z.string(), lines: z.array(lineSchema) });
type Line = z.infer<typeof lineSchema>;

interface Outcome {
  readonly outboxId: string;
  readonly outcome: "delivered" | "failed" | "waiting";
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly latencyMs: number | undefined;
  readonly relays: number;
}

async function runTest(name: string, options: TestOptions): Promise<void> {
  const result = await withDatabase(options, "endpoint test", async (client) => {
    const outboxId = await pingEndpoint(client, name, { workspaceId: options.workspace });
    return follow(client, outboxId, options.wait * 1_000);
  });
  if (options.json === true) printJson({ name, ...result });
  else for (const line of sentences(name, result)) printLine(line);
  if (result.outcome !== "delivered") throw new ExitWith(1);
}

const pollMs = 100;

async function follow(client: Client, outboxId: string, waitMs: number): Promise<Outcome> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const row = rowSchema.parse(await call(client, "outbox.inspect", { p_outbox_id: outboxId }));
    const last = row.lines.findLast((line) => line.state !== "DISPATCHING" && line.state !== "RELEASED");
    if (row.place === "delivered") return { ...factsOf(last), outboxId, outcome: "delivered", relays: 1 };
    // The test is only about the first outcome, so the ping is not tried again.
    if (last !== undefined && row.place !== "in_flight") {
      const skip = { p_outbox_ids: [outboxId], p_actor: "headroom endpoint test", p_reason: "a ping is sent once" };
      await call(client, "outbox.skip", skip);
      return { ...factsOf(last), outboxId, outcome: "failed", relays: 1 };
    }
    if (performance.now() > deadline) {
      const relays = (await readRelays(client)).filter((relay) => relay.alive).length;
      return { ...factsOf(undefined), outboxId, outcome: "waiting", relays };
    }
    await sleep(pollMs);
  }
}

function factsOf(line: Line | undefined) {
  return {
    code: line?.error_code ?? line?.rail_code,
    message: line?.error_message,
    latencyMs: line?.latency_ms,
  };
}

function sentences(name: string, { outcome, code, message, latencyMs, relays, outboxId }: Outcome): string[] {
  const took = latencyMs === undefined ? "" : ` in ${latencyMs} ms`;
  if (outcome === "delivered") return [`${name} accepted the ping${took} (HTTP ${code ?? "2xx"}).`];
  if (outcome === "failed") {
    return [
      `${name} did not accept the ping${took}: ${code ?? "failed"}.`,
      ...(message === undefined ? [] : [`  ${visible(message)}`]),
    ];
  }
  return [
    "The ping has not been sent yet. It expires one minute after its creation.",
    relays === 0
      ? "  No relay is running. Start one that has the key: HEADROOM_SECRET_KEY=… headroom relay"
      : `  ${relays === 1 ? "1 relay is" : `${relays} relays are`} running. Check that one of them has the webhook rail (HEADROOM_SECRET_KEY) and serves the stream transfers.`,
    `  Where it is: headroom outbox inspect ${outboxId}`,
  ];
}
