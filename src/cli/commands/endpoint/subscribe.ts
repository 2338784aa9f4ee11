/** `headroom endpoint subscribe`, `unsubscribe` and `subscriptions`: endpoints of the relays' files that hear of a workspace's events. */
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
        "let an endpoint of the relays' file (--endpoints) hear of a workspace's events, or change what it hears",
      )
      .argument("<name>", "the endpoint, as the file names it")
      .option("--event <type>", "only this event, such as REQUEST_SUBMITTED; give it again for more", collect)
      .option("--all-events", "all events again")
      .option("--enable", "go on with it")
      .option("--disable", "pause it; what happens meanwhile is not sent later")
      .addOption(workspaceOption()),
  ).action(runSubscribe);
  addCommon(
    endpoint
      .command("unsubscribe")
      .description("end a subscription; what was enqueued before is still sent")
      .argument("<name>", "the endpoint")
      .addOption(workspaceOption()),
  ).action(runUnsubscribe);
  addCommon(
    endpoint
      .command("subscriptions")
      .description("list the endpoints of the relays' file that hear of a workspace's events")
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runSubscribe(name: string, options: SubscribeOptions): Promise<void> {
  if (options.event !== undefined && options.allEvents === true) {
    throw new HeadroomError("usage", "--event and --all-events do not go together.");
  }
  if (options.enable === true && options.disable === true) {
    throw new HeadroomError("usage", "--enable and --disable do not go together.");
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
  const hears = subscription.enabled ? `hears of ${eventsOf(subscription)}` : "is paused, and hears of nothing";
  printLine(`${name} ${hears} in workspace ${options.workspace}, from now on.`);
  printLine("Relays send it when their file has an endpoint of that name: headroom relay --endpoints <file>");
}

async function runUnsubscribe(name: string, options: Options): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "endpoint unsubscribe", (client) =>
      removeSubscription(client, options.workspace, name),
    ),
  );
  if (options.json === true) return printJson(removed);
  printLine(`${name} hears no more of workspace ${options.workspace}. What was enqueued before is still sent.`);
}

async function runList(options: Options): Promise<void> {
  const subscriptions = await withDatabase(options, "endpoint subscriptions", async (client) => {
    await requireWorkspace(client, options.workspace);
    return listSubscriptions(client, options.workspace);
  });
  if (options.json === true) return printJson({ subscriptions });
  if (subscriptions.length === 0) {
    return printLine(
      `Nobody is subscribed in workspace ${options.workspace}. Next: headroom endpoint subscribe <name>`,
    );
  }
  printTable(subscriptions, [
    { title: "ENDPOINT", value: (row) => row.endpoint },
    { title: "STATE", value: (row) => (row.enabled ? "enabled" : "paused") },
    { title: "HEARS OF", value: eventsOf },
    { title: "SINCE", value: (row) => row.createdAt },
  ]);
}

function eventsOf({ eventTypes }: Subscription): string {
  return eventTypes === null ? "all events" : eventTypes.join(", ");
}
