/** `headroom request create`: asks for capacity. */
import type { Command } from "commander";
import { createRequest, type CapacityRequest } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { parseWhole } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parseRequestId } from "../../acting.ts";
import { priceOf } from "./price.ts";
import { addTerms, parseDay, toTerms, type TermsOptions } from "./terms.ts";
import { showUnasked } from "./unasked.ts";

interface CreateOptions extends TermsOptions {
  readonly neededBy?: string;
  readonly ttl?: number;
  readonly key?: string;
  readonly replaces?: string;
}

export function registerCreate(request: Command): void {
  addTerms(request.command("create").description("ask for capacity: creates a request and submits it for review"))
    .option("--needed-by <date>", "when it is needed, such as 2027-01-31", parseDay)
    .option("--ttl <days>", "how long the customer may take to answer", parseWhole(1, 90), 7)
    .option("--key <text>", "idempotency key: the same call again gives the same request")
    .option("--replaces <id>", "the request that this one replaces", parseRequestId)
    .action(runCreate);
}

async function runCreate(options: CreateOptions): Promise<void> {
  const terms = toTerms(options);
  const answer = await withDatabase(options, "request create", (client) =>
    createRequest(client, {
      ...terms,
      neededBy: options.neededBy,
      confirmationTtlDays: options.ttl,
      idempotencyKey: options.key,
      replaces: options.replaces,
    }),
  );
  const { request } = orFail(answer);
  if (options.json === true) printJson({ request });
  else show(request);
}

function show(request: CapacityRequest): void {
  printLine(`${request.id} is ${request.state}: ${request.quantity} × ${request.size} in ${request.region}.`);
  const { commercial, technical } = request.reviewPlan;
  printLine(`Commercial review: ${commercial.why ?? "-"}`);
  printLine(`Technical review:  ${technical.why ?? "-"}`);
  if (request.offer !== null) printLine(`The customer pays ${priceOf(request.offer)} to confirm it.`);
  showUnasked(request.customerUnasked, request);
  printLine(`Next: headroom request show ${request.id}`);
}
