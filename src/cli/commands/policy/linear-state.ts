/** `headroom policy linear-state`: which workflow state of the Linear team is used for a state of requests. */
import { Argument, type Command } from "commander";
import { listLinearStates, putLinearState, requestStates, type CapacityRequestState } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface LinearStateOptions extends CommonOptions, WorkspaceOption {
  readonly clear?: boolean;
}

export function registerLinearState(policy: Command): void {
  addCommon(
    policy
      .command("linear-state")
      .description("show which workflow states of Linear are used for the states of requests, or choose one")
      .addArgument(new Argument("[state]", "a state of requests").choices(requestStates))
      .argument("[id]", "the id of the workflow state in Linear")
      .option("--clear", "remove the choice: the team's first state of that type is used")
      .addOption(workspaceOption()),
  ).action(runLinearState);
}

async function runLinearState(
  state: CapacityRequestState | undefined,
  id: string | undefined,
  options: LinearStateOptions,
): Promise<void> {
  if (state === undefined) return show(options);
  if ((id === undefined) === (options.clear !== true)) {
    throw new HeadroomError("usage", `Give the id of the Linear state for ${state}, or --clear.`, {
      hint: `headroom policy linear-state ${state} <id>. Linear shows ids by "Copy model UUID", and its API in team.states.`,
    });
  }
  const put = orFail(
    await withDatabase(options, "policy linear-state", (client) =>
      putLinearState(client, options.workspace, state, id ?? null),
    ),
  );
  if (options.json === true) return printJson({ state: put.state, linearStateId: put.linearStateId });
  printLine(
    put.linearStateId === null
      ? `${state} uses the team's first state of its type again.`
      : `${state} is ${put.linearStateId} in Linear from the next change on.`,
  );
}

async function show(options: LinearStateOptions): Promise<void> {
  const states = await withDatabase(options, "policy linear-state", async (client) => {
    await requireWorkspace(client, options.workspace);
    return listLinearStates(client, options.workspace);
  });
  if (options.json === true) return printJson({ states });
  const chosen = new Map(states.map(({ state, linearStateId }) => [state, linearStateId]));
  printTable(requestStates, [
    { title: "STATE", value: (state) => state },
    { title: "IN LINEAR", value: (state) => chosen.get(state) ?? "the team's first state of its type" },
  ]);
}
