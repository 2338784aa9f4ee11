/** `headroom outbox alerts …`: who is told when rows are given up. */
import { Option, type Command } from "commander";
import { listAlerts, putAlert, removeAlert, type AlertTemplate } from "../../../webhooks/alerts.ts";
import { databaseUrlOption, withDatabase, type DatabaseUrlOption } from "../../database.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { wholeNumber } from "../../relay/options.ts";

interface AlertsOptions extends DatabaseUrlOption {
  readonly json?: boolean;
}

interface PutOptions extends AlertsOptions {
  readonly endpoint?: string;
  readonly template?: AlertTemplate;
  readonly routingKey?: string;
  readonly stream?: readonly string[];
  readonly allStreams?: boolean;
  readonly repeatMinutes?: number;
}

export function registerAlerts(outbox: Command): void {
  const alerts = outbox.command("alerts").description("keep who is told when rows are given up, by webhook");
  common(alerts.command("list").description("list alerts, and which are raised")).action(runList);
  common(
    alerts
      .command("put")
      .description("make an alert, or change what is given")
      .argument("<name>", "small letters, digits and dashes")
      .option("--endpoint <name>", "the endpoint that is told; it belongs to no workspace")
      .addOption(new Option("--template <kind>", "what it is sent").choices(["event", "pagerduty"]))
      // From the environment alone: what stands on a command line is seen by everybody on the machine.
      .addOption(new Option("--routing-key <key>").env("PAGERDUTY_ROUTING_KEY").hideHelp())
      .option("--stream <name>", "watch this stream; give it again for more", collect)
      .option("--all-streams", "watch all streams again")
      .option("--repeat-minutes <minutes>", "be quiet that long about more of the same", wholeNumber(1, 10_080))
      .addHelpText("after", "\nPagerDuty's integration key is read from PAGERDUTY_ROUTING_KEY."),
  ).action(runPut);
  common(
    alerts
      .command("remove")
      .description("remove an alert; nobody is told that it is over")
      .argument("<name>", "its name"),
  ).action(runRemove);
}

function common(command: Command): Command {
  return command.addOption(databaseUrlOption()).option("--json", "print one JSON object");
}

function collect(name: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), name];
}

async function runList(options: AlertsOptions): Promise<void> {
  const alerts = await withDatabase(options, "outbox alerts list", (client) => listAlerts(client));
  if (options.json === true) return printJson({ alerts });
  if (alerts.length === 0)
    return printLine("There are no alerts. Next: headroom outbox alerts put <name> --endpoint <endpoint>");
  printTable(alerts, [
    { title: "NAME", value: (row) => row.name },
    { title: "ENDPOINT", value: (row) => row.endpoint },
    { title: "TEMPLATE", value: (row) => row.template },
    { title: "STREAMS", value: (row) => row.streams?.join(", ") ?? "all" },
    { title: "REPEATS", value: (row) => `${row.repeatMinutes} min` },
    {
      title: "RAISED",
      value: (row) => (row.raised === 0 ? "no" : `${row.raised}, since ${row.raisedSince?.toISOString() ?? ""}`),
    },
  ]);
}

async function runPut(name: string, options: PutOptions): Promise<void> {
  const { endpoint, template, repeatMinutes } = options;
  const streams = options.allStreams === true ? null : options.stream;
  // The key of the environment is meant only where PagerDuty is; the other template has none.
  const routingKey = template === "pagerduty" ? options.routingKey : template === "event" ? null : undefined;
  await withDatabase(options, "outbox alerts put", (client) =>
    putAlert(client, name, { endpoint, template, routingKey, streams, repeatMinutes }),
  );
  if (options.json === true) return printJson({ name });
  printLine(`The alert ${name} is kept. Relays look for dead letters every few seconds.`);
}

async function runRemove(name: string, options: AlertsOptions): Promise<void> {
  await withDatabase(options, "outbox alerts remove", (client) => removeAlert(client, name));
  if (options.json === true) return printJson({ name });
  printLine(`The alert ${name} is removed.`);
}
