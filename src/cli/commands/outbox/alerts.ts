/** `headroom outbox alerts …`: which endpoints are notified when rows are given up. */
import { Option, type Command } from "commander";
import { listAlerts, putAlert, removeAlert, type AlertTemplate } from "../../../webhooks/alerts.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, collect, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";

interface PutOptions extends CommonOptions {
  readonly endpoint?: string;
  readonly template?: AlertTemplate;
  readonly routingKey?: string;
  readonly stream?: readonly string[];
  readonly allStreams?: boolean;
  readonly repeatMinutes?: number;
}

export function registerAlerts(outbox: Command): void {
  const alerts = outbox.command("alerts").description("set which endpoints are notified when rows are given up");
  addCommon(alerts.command("list").description("list alerts, and which are raised")).action(runList);
  addCommon(
    alerts
      .command("put")
      .description("create an alert, or change the settings given here")
      .argument("<name>", "lower-case letters, digits and dashes")
      .option("--endpoint <name>", "the endpoint that is notified, one that belongs to no workspace")
      .addOption(new Option("--template <kind>", "the format of the message").choices(["event", "pagerduty"]))
      // Hidden, because it belongs in the environment: a command line can be seen by everybody on the machine.
      .addOption(new Option("--routing-key <key>").env("PAGERDUTY_ROUTING_KEY").hideHelp())
      .option("--stream <name>", "watch this stream; may be repeated", collect)
      .option("--all-streams", "watch all streams")
      .option("--repeat-minutes <minutes>", "how long to send nothing about more of the same", parseWhole(1, 10_080))
      .addHelpText("after", "\nPagerDuty's integration key is read from PAGERDUTY_ROUTING_KEY."),
  ).action(runPut);
  addCommon(
    alerts
      .command("remove")
      .description("remove an alert; nobody is notified that it ended")
      .argument("<name>", "its name"),
  ).action(runRemove);
}

async function runList(options: CommonOptions): Promise<void> {
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
  // The key from the environment is only for PagerDuty's template; the other one has no key.
  const routingKey = template === "pagerduty" ? options.routingKey : template === "event" ? null : undefined;
  await withDatabase(options, "outbox alerts put", (client) =>
    putAlert(client, name, { endpoint, template, routingKey, streams, repeatMinutes }),
  );
  if (options.json === true) return printJson({ name });
  printLine(`The alert ${name} is saved. Relays look for dead letters every few seconds.`);
}

async function runRemove(name: string, options: CommonOptions): Promise<void> {
  await withDatabase(options, "outbox alerts remove", (client) => removeAlert(client, name));
  if (options.json === true) return printJson({ name });
  printLine(`The alert ${name} was removed.`);
}
