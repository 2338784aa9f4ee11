/** `headroom request list`: requests, newest first. */
import { type Command, Option } from "commander";
import {
  listRequests,
  openStates,
  requestStates,
  type CapacityRequestState,
  type ListedRequest,
} from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole } from "../../options.ts";
import { formatAge, printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { asOption, parseRequestId, requireMember, type ActingOptions } from "../../acting.ts";

interface ListOptions extends ActingOptions, WorkspaceOption {
  readonly state?: readonly CapacityRequestState[];
  readonly open?: boolean;
  readonly mine?: boolean;
  readonly waitsOn?: string;
  readonly limit: number;
  readonly after?: string;
}

export function registerList(request: Command): void {
  addCommon(
    request
      .command("list")
      .description("list requests, newest first")
      .addOption(new Option("--state <state...>", "only in these states").choices(requestStates))
      .option("--open", "only open requests")
      .option("--mine", "only those that the member given with --as created")
      .option("--waits-on <who>", "only those that wait on this member or group; `me` is the member of --as")
      .option("--limit <rows>", "rows on a page, up to 1000", parseWhole(1, 1_000), 50)
      .option("--after <id>", "start after this request, for the next page", parseRequestId)
      .addOption(asOption())
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  if (options.open === true && options.state !== undefined) {
    throw new HeadroomError("usage", "--open and --state cannot be used together.", {
      hint: "--open means all open states.",
    });
  }
  const states = options.open === true ? openStates : options.state;
  const waitsOn = options.waitsOn === "me" ? requireMember(options) : options.waitsOn;
  const requester = options.mine === true ? requireMember(options) : undefined;
  const answer = await withDatabase(options, "request list", (client) =>
    listRequests(client, {
      workspaceId: options.workspace,
      states,
      requester,
      waitsOn,
      limit: options.limit,
      after: options.after,
    }),
  );
  const { requests } = orFail(answer);
  const last = requests.at(-1)?.id;
  const next = requests.length === options.limit && last !== undefined ? last : null;
  if (options.json === true) printJson({ requests, next });
  else show(requests, next);
}

function show(requests: readonly ListedRequest[], next: string | null): void {
  if (requests.length === 0) return printLine("No requests match.");
  const now = Date.now();
  printTable(requests, [
    { title: "ID", value: (row) => row.id },
    { title: "STATE", value: (row) => row.state },
    { title: "FOR", value: (row) => formatAge(Math.max(0, (now - row.stateSince.getTime()) / 1_000)), align: "right" },
    { title: "WHAT", value: (row) => `${row.quantity} × ${row.size}` },
    { title: "REGION", value: (row) => row.region },
    { title: "USD A MONTH", value: (row) => row.monthlyCostUsd, align: "right" },
    { title: "REQUESTER", value: (row) => row.requester },
    { title: "WAITS ON", value: (row) => (row.waitsOn.length === 0 ? null : row.waitsOn.join(", ")) },
    { title: "NEEDED BY", value: (row) => row.neededBy },
  ]);
  if (next !== null) printLine(`\nMore: --after ${next}`);
}
