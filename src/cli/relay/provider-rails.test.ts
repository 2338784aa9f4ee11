import { describe, expect, test } from "vitest";
import type { Finding } from "../commands/doctor/finding.ts";
import { checkProviders } from "../commands/doctor/provider-checks.ts";
import { createProviderRails, describeProviders, type Environment } from "./provider-rails.ts";

const read = (): Promise<never> => Promise.reject(new Error("nothing is read here"));
const whole: Environment = {
  SLACK_BOT_TOKEN: "xoxb-1-2-3",
  SLACK_API_URL: "",
  LINEAR_API_KEY: "lin_api_123",
  SMTP_URL: "smtp://127.0.0.1:2525",
  MAIL_FROM: "Headroom <capacity@headroom.example>",
  GITHUB_TOKEN: "github_pat_1",
  STRIPE_SECRET_KEY: "sk_test_123456",
};

function namesOf(environment: Environment): string[] {
  return createProviderRails(read, environment).map((rail) => `${rail.name} ${rail.capability}`);
}

/** What the doctor says of an environment without a database, asking nobody. */
function checked(environment: Environment): Promise<Finding[]> {
  return checkProviders(
    {
      environment,
      workspaces: [],
      connected: undefined,
      money: undefined,
      rails: [],
      credentials: { values: undefined, stored: [] },
    },
    true,
  );
}

describe("the providers' rails", () => {
  test("are those that the environment has settings for; an empty variable counts as not set", () => {
    expect(namesOf({})).toEqual([]);
    expect(namesOf({ SLACK_BOT_TOKEN: " ", LINEAR_API_URL: "https://linear.example/graphql" })).toEqual([]);
    expect(namesOf(whole)).toEqual([
      "slack lookup",
      "slack-interaction blind",
      "linear lookup",
      "email blind",
      "github-actions lookup",
      "stripe lookup",
    ]);
    const { SMTP_URL: _smtp, ...others } = whole;
    const postal = { POSTAL_URL: "https://postal.example", POSTAL_API_KEY: "postal-key" };
    expect(namesOf({ ...others, ...postal })).toContain("email blind");
  });

  test.each<[string, Environment, string]>([
    [
      "a sender that is missing",
      { SMTP_URL: "smtp://127.0.0.1" },
      "Mail by SMTP is set up only in part: MAIL_FROM is missing.",
    ],
    [
      "a key that is missing",
      { POSTAL_URL: "https://postal.example", MAIL_FROM: "a@b.example" },
      "POSTAL_API_KEY is missing",
    ],
    [
      "two ways to send mail",
      { ...whole, POSTAL_URL: "https://p.example", POSTAL_API_KEY: "postal-key" },
      "set up twice",
    ],
  ])("are refused with %s, before anything is connected", async (_what, environment, message) => {
    expect(() => createProviderRails(read, environment)).toThrow(expect.objectContaining({ code: "usage" }));
    expect(() => createProviderRails(read, environment)).toThrow(message);
    expect(await checked(environment)).toEqual([
      expect.objectContaining({ check: "providers", status: "failure", message: expect.stringContaining(message) }),
    ]);
  });

  test("are refused with a setting of the wrong form, which is not repeated", () => {
    const environment = { LINEAR_API_KEY: "with spaces in it" };
    const make = (): unknown => createProviderRails(read, environment);
    expect(make).toThrow(expect.objectContaining({ code: "rail_invalid", detail: expect.stringContaining("apiKey") }));
    expect(make).not.toThrow("with spaces in it");
  });

  test("are listed by the doctor, with what would set up the others", async () => {
    const findings = await checked({ LINEAR_API_KEY: "lin_api_123" });
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      "slack ok",
      "linear skipped",
      "mail ok",
      "github ok",
      "stripe ok",
    ]);
    expect(findings.map(({ message }) => message)).toEqual([
      "Not set up here (SLACK_BOT_TOKEN), and nothing needs it.",
      "Linear is set up here: LINEAR_API_KEY from the environment. Not checked (--offline).",
      "Not set up here (SMTP_URL and MAIL_FROM, or POSTAL_URL and POSTAL_API_KEY and MAIL_FROM), and nothing needs it.",
      "Not set up here (GITHUB_TOKEN), and nothing needs it.",
      "Not set up here (STRIPE_SECRET_KEY), and nothing needs it.",
    ]);
  });

  test("are in the help of commands that run a relay, with every variable", () => {
    for (const variable of Object.keys(whole)) expect(describeProviders()).toContain(variable);
  });
});
