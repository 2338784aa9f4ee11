/**
 * A provider's rail, connected to the provider's stand-in in the sandbox: what the conformance suite needs of each.
 */
import type { RailHarness, SandboxFault } from "../../../src/contract/conformance/suite.ts";
import type { Json, Rail, RailMessage } from "../../../src/contract/rail.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import type { FaultKind, Provider } from "../../../src/sandbox/core/faults.ts";
import type { LoggedRequest } from "../../../src/sandbox/core/request-log.ts";
import type { SandboxSecrets } from "../../../src/sandbox/core/world.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { messageOf } from "./messages.ts";

export interface ClosableRail extends Rail {
  close(): void;
}

export interface ProviderPlan {
  readonly provider: Provider;
  /** The call that has the effect, as the sandbox names it. Faults apply to this one. */
  readonly method: string;
  /** A rail that talks to the provider at `url`. */
  rail(url: string): ClosableRail;
  /** Where nobody listens. */
  readonly nowhere: string;
  urlOf(sandbox: Sandbox): string;
  /** What must exist before messages of this kind make sense. */
  prepare?(sandbox: Sandbox): Promise<void>;
  /** A new payload, unlike any other. */
  payload(): Json;
  readonly invalid: readonly Json[];
  /** What distinguishes one payload from all others, wherever it appears in the sandbox. */
  markOf(payload: Json): string;
  /** How often the mark appears in what the provider has. */
  effects(sandbox: Sandbox, mark: string): number;
  readonly secrets: readonly string[];
  /** How many calls a refusal takes: more than one where the rail asks again in another way. Default: 1. */
  readonly refusals?: number;
}

const throttleAfterSeconds = 7;

const faultKinds: Readonly<Record<Exclude<SandboxFault, "unreachable">, FaultKind>> = {
  refuse: "refuse",
  refuse_echoing: "refuseEchoing",
  throttle: "rateLimit",
  fail: "error500",
  hang: "hang",
  close_before_read: "dropBeforeAccept",
  fail_after_accept: "error500AfterAccept",
  drop_after_accept: "dropAfterAccept",
  close_mid_answer: "cutAnswer",
  answer_late: "late",
  garbage: "garbage",
};

export const sandboxSecrets: SandboxSecrets = {
  slackSigningSecret: "8f742231b10e8888abcd99yyyzzz85a5",
  linearWebhookSecret: "lin_wh_sandbox",
  githubWebhookSecret: "github-sandbox",
  stripeWebhookSecret: "whsec_sandbox",
};

export async function openProvider(plan: ProviderPlan): Promise<RailHarness> {
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: sandboxSecrets });
  await plan.prepare?.(sandbox);
  const near = plan.rail(plan.urlOf(sandbox));
  const far = plan.rail(plan.nowhere);
  let isUnreachable = false;
  const chosen = (): Rail => {
    const rail = isUnreachable ? far : near;
    isUnreachable = false;
    return rail;
  };
  const isAbout = (request: LoggedRequest, message: RailMessage): boolean =>
    request.method === plan.method &&
    JSON.stringify([request.path, request.body]).includes(plan.markOf(message.payload));
  return {
    rail: {
      ...near,
      send: (message, context) => chosen().send(message, context),
      ...(near.capability !== "lookup"
        ? {}
        : { lookup: (message, context) => chosen().lookup?.(message, context) ?? absent }),
    },
    throttleAfterMs: throttleAfterSeconds * 1000,
    secrets: plan.secrets,
    message: () => messageOf(plan.payload()),
    invalidMessages: () => plan.invalid.map((payload) => messageOf(payload)),
    next(fault) {
      if (fault === "unreachable") isUnreachable = true;
      else {
        const { provider, method } = plan;
        const kind = faultKinds[fault];
        const times = fault === "refuse" || fault === "refuse_echoing" ? (plan.refusals ?? 1) : 1;
        sandbox.faults.add({ provider, method, kind, times, retryAfterSeconds: throttleAfterSeconds });
      }
    },
    received: async (message) => void (await sandbox.requests.waitFor((request) => isAbout(request, message))),
    release: () => sandbox.faults.release(),
    calls: (message) =>
      sandbox.requests.list({ provider: plan.provider }).filter((request) => isAbout(request, message)).length,
    effects: ({ payload }) => plan.effects(sandbox, plan.markOf(payload)),
    async close() {
      near.close();
      far.close();
      await sandbox.close();
    },
  };
}

const absent = { kind: "absent" } as const;
