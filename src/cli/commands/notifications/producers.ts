/** `headroom notifications producers …`: the logins of applications that may notify people. */
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
    .description("logins of the database that may notify people, by a call of notify() or an insert");
  addCommon(producers.command("list").description("list them")).action(runList);
  addCommon(
    producers
      .command("add")
      .description("let a login notify people; it gets no right to read anything")
      .argument("<role>", "the login, as the database knows it", parseText(63))
      .addOption(actorOption()),
  ).action(runAdd);
  addCommon(
    producers
      .command("remove")
      .description("take this right from a login")
      .argument("<role>", "the login", parseText(63)),
  ).action(runRemove);
}

async function runList(options: CommonOptions): Promise<void> {
  const producers = await withDatabase(options, "notifications producers", listProducers);
  if (options.json === true) return printJson({ producers });
  if (producers.length === 0) {
    printLine("No login was named: only service keys and operators may notify people.");
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
  printLine(changed ? `${role} may notify people now.` : `${role} already could. Nothing was changed.`);
  printLine("It calls public.notify(workspace, member, key, title, body), or inserts into public.notification_outbox.");
}

async function runRemove(role: string, options: CommonOptions): Promise<void> {
  const { changed } = orFail(
    await withDatabase(options, "notifications producers", (client) => removeProducer(client, role)),
  );
  if (options.json === true) return printJson({ role, changed });
  printLine(changed ? `${role} may no longer notify people.` : `${role} was not a producer. Nothing was changed.`);
}
