/** `headroom endpoint subscribe`, `unsubscribe` and `subscriptions`: endpoints of the relays' files that receive a workspace's events. */
import type { Command } from "commander";
import { listSubscriptions, putSubscription, removeSubscription, type Subscription } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, collect, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

type Options = CommonOptions & WorkspaceOption;

interface SubscribeOptions extends Options {
  readonly event?: readonly string[];
  readonly allEvents?: boolean;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export function registerSubscribe(endpoint: Command): void {
  addCommon(
    endpoint
      .command("subscribe")
      .description(
        "send a workspace's events to an endpoint of the relays' file (--endpoints), or change the choice of events",
      )
      .argument("<name>", "the endpoint, as the file names it")
      .option("--event <type>", "only this event, such as REQUEST_SUBMITTED; may be repeated", collect)
      .option("--all-events", "send all events")
      .option("--enable", "resume it")
      .option("--disable", "pause it; events of that time are not sent later")
      .addOption(workspaceOption()),
  ).action(runSubscribe);
  addCommon(
    endpoint
      .command("unsubscribe")
      .description("end a subscription; earlier events are still sent")
      .argument("<name>", "the endpoint")
      .addOption(workspaceOption()),
  ).action(runUnsubscribe);
  addCommon(
    endpoint
      .command("subscriptions")
      .description("list the endpoints of the relays' file that are sent a workspace's events")
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runSubscribe(name: string, options: SubscribeOptions): Promise<void> {
  if (options.event !== undefined && options.allEvents === true) {
    throw new HeadroomError("usage", "--event and --all-events cannot be used together.");
  }
  if (options.enable === true && options.disable === true) {
    throw new HeadroomError("usage", "--enable and --disable cannot be used together.");
  }
  const { subscription } = orFail(
    await withDatabase(options, "endpoint subscribe", (client) =>
      putSubscription(client, options.workspace, name, {
        eventTypes: options.allEvents === true ? null : options.event,
        enabled: options.enable === true ? true : options.disable === true ? false : undefined,
      }),
    ),
  );
  if (options.json === true) return printJson({ subscription });
  printLine(
    subscription.enabled
      ? `From now on ${name} receives ${eventsOf(subscription)} of workspace ${options.workspace}.`
      : `${name} is paused: it receives no events of workspace ${options.workspace}.`,
  );
  printLine("Relays deliver them if their file has an endpoint of that name: headroom relay --endpoints <file>");
}

async function runUnsubscribe(name: string, options: Options): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "endpoint unsubscribe", (client) =>
      removeSubscription(client, options.workspace, name),
    ),
  );
  if (options.json === true) return printJson(removed);
  printLine(`${name} no longer receives events of workspace ${options.workspace}. Earlier events are still sent.`);
}

async function runList(options: Options): Promise<void> {
  const subscriptions = await withDatabase(options, "endpoint subscriptions", async (client) => {
    await requireWorkspace(client, options.workspace);
    return listSubscriptions(client, options.workspace);
  });
  if (options.json === true) return printJson({ subscriptions });
  if (subscriptions.length === 0) {
    return printLine(
      `No endpoint is subscribed in workspace ${options.workspace}. Next: headroom endpoint subscribe <name>`,
    );
  }
  printTable(subscriptions, [
    { title: "ENDPOINT", value: (row) => row.endpoint },
    { title: "STATE", value: (row) => (row.enabled ? "enabled" : "paused") },
    { title: "EVENTS", value: eventsOf },
    { title: "SINCE", value: (row) => row.createdAt },
  ]);
}

function eventsOf({ eventTypes }: Subscription): string {
  return eventTypes === null ? "all events" : eventTypes.join(", ");
}
