/** `headroom endpoint replay`: sends an endpoint the events that it missed. */
import { Option, type Command } from "commander";
import { replayEnvelopes } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { parseMoment, periodOf, readClock, type Moment } from "../../words/moment.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";

interface ReplayOptions extends CommonOptions {
  readonly from: Moment;
  readonly to?: Moment;
  readonly stream?: string;
}

export function registerReplay(endpoint: Command): void {
  addCommon(
    endpoint
      .command("replay")
      .description("send an endpoint the events of a period that it has not been sent")
      .argument("<name>", "the endpoint")
      .addOption(
        new Option("--from <time>", "from then on: a date and time, or 90m, 24h, 7d ago")
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
    const { from = now, to } = periodOf(options, now);
    return replayEnvelopes(client, name, { from, to, stream: options.stream });
  });
  if (options.json === true) return printJson({ name, enqueued: sent });
  printLine(
    sent === 0
      ? `${name} has already been sent every event of that period.`
      : `${sent} event${sent === 1 ? " is" : "s are"} on the way to ${name}.`,
  );
}
