/** The terms of a request: the options that creating and previewing a request share. */
import { type Command, InvalidArgumentError } from "commander";
import type { RequestTerms } from "../../../capacity/index.ts";
import { canonicalAddress } from "../../../db/address.ts";
import { digitsOf, parseToPassOn } from "../../../db/values/exact-json.ts";
import { addCommon, parseMoney, parseWhole } from "../../options.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { asOption, requireMember, type ActingOptions } from "../../acting.ts";

export interface TermsOptions extends ActingOptions, WorkspaceOption {
  readonly size: string;
  readonly quantity: number;
  readonly region: string;
  readonly owner?: string;
  readonly group?: string;
  readonly days?: number;
  readonly cost?: string;
  readonly channel?: string;
  readonly customer?: Readonly<Record<string, unknown>>;
  readonly email?: string;
  readonly customerId?: string;
  readonly justification?: string;
}

export function addTerms(command: Command): Command {
  return addCommon(
    command
      .requiredOption("--size <size>", "instance size, such as 32XL")
      .option("--quantity <count>", "how many", parseWhole(1, 10_000), 1)
      .requiredOption("--region <region>", "where, such as us-east-1")
      .option("--days <count>", "for how long it is expected to be needed", parseWhole(1, 3_650))
      .option("--owner <member>", "commercial owner (default: as the policies say)")
      .option("--group <group>", "infra group that reviews (default: as the policies say)")
      .option(
        "--cost <usd>",
        "estimated cost a month; without it, and without a price, every escalation applies",
        parseMoney,
      )
      .option("--customer <json>", "who wants it, as a JSON object; an email in it gets the link", parseCustomer)
      .option("--email <address>", "the customer's e-mail address, where the link goes", parseAddress)
      .option("--customer-id <id>", "what you call the customer (default: org_id of --customer, else by the address)")
      .option("--justification <text>", "why it is needed, for those who decide")
      .option("--channel <id>", "Slack channel to post in (default: the workspace's)")
      .addOption(asOption())
      .addOption(workspaceOption()),
  );
}

export function toTerms(options: TermsOptions): RequestTerms {
  return {
    requester: requireMember(options),
    commercialOwner: options.owner,
    infraGroup: options.group,
    size: options.size,
    quantity: options.quantity,
    region: options.region,
    durationDays: options.days,
    monthlyCostUsd: options.cost,
    workspaceId: options.workspace,
    slackChannelId: options.channel,
    customerRef: options.email === undefined ? options.customer : { ...options.customer, email: options.email },
    customerId: options.customerId,
    justification: options.justification,
  };
}

/** `{"org_id": "o1", "name": "Acme", "email": "it@acme.example"}` */
export function parseCustomer(text: string): Readonly<Record<string, unknown>> {
  const value = parseToPassOn(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value) && digitsOf(value) === undefined)
    return { ...value };
  throw new InvalidArgumentError(`Give a JSON object, such as '{"org_id":"o1","name":"Acme"}'.`);
}

/** By the same rule as in the database. It is passed on as typed. */
export function parseAddress(text: string): string {
  const address = text.trim();
  if (canonicalAddress(address) !== undefined) return address;
  throw new InvalidArgumentError(
    "Give one e-mail address in ASCII letters, such as name@example.com; its domain may have the xn-- form.",
  );
}

export function parseDay(text: string): string {
  const day = text.trim();
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return day;
  throw new InvalidArgumentError("Give a date, such as 2027-01-31.");
}
