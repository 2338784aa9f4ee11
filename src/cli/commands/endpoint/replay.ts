/** `headroom endpoint replay`: sends an endpoint the events that it missed. */
import { Option, type Command } from "commander";
import { replayEnvelopes } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine } from "../../output.ts";
import { parseMoment, readClock, toFilter, type Moment } from "../outbox/filters.ts";
import { addCommon, type CommonOptions } from "../request/acting.ts";

interface ReplayOptions extends CommonOptions {
  readonly from: Moment;
  readonly to?: Moment;
  readonly stream?: string;
}

export function registerReplay(endpoint: Command): void {
  addCommon(
    endpoint
      .command("replay")
      .description("send an endpoint the published events of a period that it was not sent")
      .argument("<name>", "the endpoint")
      .addOption(
        new Option("--from <time>", "since then: a date and time, or 90m, 24h, 7d ago")
          .argParser(parseMoment)
          .makeOptionMandatory(),
      )
      .addOption(new Option("--to <time>", "until then (default: now)").argParser(parseMoment))
      .option("--stream <name>", "only events of this stream"),
  ).action(runReplay);
}

async function runReplay(name: string, options: ReplayOptions): Promise<void> {
  const sent = await withDatabase(options, "endpoint replay", async (client) => {
    const now = await readClock(client);
    const { from, to } = options;
    const { p_from = now, p_to } = toFilter({ from, ...(to === undefined ? {} : { to }) }, now);
    return replayEnvelopes(client, name, { from: p_from, to: p_to, stream: options.stream });
  });
  if (options.json === true) return printJson({ name, enqueued: sent });
  printLine(
    sent === 0 ? `${name} has been sent everything of that time.` : `${sent} events are on their way to ${name}.`,
  );
}
