/** `headroom notifications producers …`: the logins of applications that may tell people things. */
import type { Command } from "commander";
import { addProducer, listProducers, removeProducer } from "../../../notify/index.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseText, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";

export function registerProducers(notifications: Command): void {
  const producers = notifications
    .command("producers")
    .description("logins of the database that may tell people things, by a call of notify() or an insert");
  addCommon(producers.command("list").description("list them")).action(runList);
  addCommon(
    producers
      .command("add")
      .description("let a login tell people things; it can read nothing by that")
      .argument("<role>", "the login, as the database knows it", parseText(63))
      .addOption(actorOption()),
  ).action(runAdd);
  addCommon(
    producers
      .command("remove")
      .description("take that from a login again")
      .argument("<role>", "the login", parseText(63)),
  ).action(runRemove);
}

async function runList(options: CommonOptions): Promise<void> {
  const producers = await withDatabase(options, "notifications producers", listProducers);
  if (options.json === true) return printJson({ producers });
  if (producers.length === 0) {
    printLine("No login was named: only service keys and operators tell people things.");
    return printLine("Next: headroom notifications producers add <role>");
  }
  printTable(producers, [
    { title: "LOGIN", value: (row) => row.role },
    { title: "ADDED", value: (row) => row.addedAt },
    { title: "BY", value: (row) => row.addedBy },
    { title: "EXISTS", value: (row) => (row.present ? "yes" : "no: the role was dropped") },
  ]);
}

async function runAdd(role: string, options: CommonOptions & ActorOption): Promise<void> {
  const { changed } = orFail(
    await withDatabase(options, "notifications producers", (client) => addProducer(client, role, options.actor)),
  );
  if (options.json === true) return printJson({ role, changed });
  printLine(changed ? `${role} may tell people things now.` : `${role} could already. Nothing was changed.`);
  printLine("It calls public.notify(workspace, member, key, title, body), or inserts into public.notification_outbox.");
}

async function runRemove(role: string, options: CommonOptions): Promise<void> {
  const { changed } = orFail(
    await withDatabase(options, "notifications producers", (client) => removeProducer(client, role)),
  );
  if (options.json === true) return printJson({ role, changed });
  printLine(changed ? `${role} tells nobody anything any more.` : `${role} was no producer. Nothing was changed.`);
}
