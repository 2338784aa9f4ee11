/**
 * The rail `github-actions`: starts a workflow, stops its runs, and reads their state.
 *
 * Owns: which operation a row asks for. Does not own: the operations (dispatch.ts, stop.ts, watch.ts), nor the workflow, whose
 * `run-name` must show the run's mark.
 */
import { openConnections } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type {
  Json,
  LookupOutcome,
  Rail,
  RailContext,
  RailMessage,
  RailOutcome,
  Validation,
} from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { createVisibility } from "../visibility.ts";
import { createGithubCall } from "./call.ts";
import { githubActionsCodes } from "./codes.ts";
import { githubActionsSettingsSchema } from "./config.ts";
import type { GithubActionsSettings } from "./config.ts";
import { dispatchRun, findDispatched, type DispatchingGithub } from "./dispatch.ts";
import { githubMessageSchema } from "./message.ts";
import { findStopped, stopRuns, type StoppingGithub } from "./stop.ts";
import { watchRuns } from "./watch.ts";

export interface GithubActionsRailOptions extends GithubActionsSettings {
  /** Hard limit of one try with all its calls, and of one search for a run. Default: 20,000. */
  readonly timeoutMs?: number;
  /** How many rows are under way at the same time. Default: 10. */
  readonly concurrency?: number;
  /** How long after a dispatch a run may still appear that was not found. Default: 30,000. */
  readonly visibleAfterMs?: number;
}

export interface GithubActionsRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = {
  timeoutMs: 20_000,
  concurrency: 10,
  visibleAfterMs: 30_000,
} satisfies Partial<GithubActionsRailOptions>;

export function createGithubActionsRail(options: GithubActionsRailOptions): GithubActionsRail {
  const { timeoutMs, concurrency, visibleAfterMs } = { ...defaults, ...options };
  const settings = requireSettings("github-actions", githubActionsSettingsSchema, options);
  const connections = openConnections();
  const github: Github = {
    call: createGithubCall(settings, connections),
    visibility: createVisibility(visibleAfterMs),
    visibleAfterMs,
    knowsRunDetails: true,
  };
  return {
    name: "github-actions",
    capability: "lookup",
    timeoutMs,
    concurrency,
    codes: Object.keys(githubActionsCodes),
    validate: ({ payload }) => validate(payload),
    send: (message, context) => send(github, message, context),
    lookup: (message, context) => lookUp(github, message, context),
    close: () => connections.close(),
  };
}

function validate(payload: Json): Validation {
  const parsed = githubMessageSchema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

type Github = DispatchingGithub & StoppingGithub;

function send(github: Github, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const asked = githubMessageSchema.parse(message.payload);
  switch (asked.operation) {
    case "stop":
      return stopRuns(github, asked, message, signal);
    case "watch":
      return watchRuns(github.call, asked, signal);
    default:
      return github.visibility.during(message.outboxId, () => dispatchRun(github, asked, signal));
  }
}

async function lookUp(github: Github, message: RailMessage, { signal }: RailContext): Promise<LookupOutcome> {
  const asked = githubMessageSchema.parse(message.payload);
  switch (asked.operation) {
    case "stop":
      return await findStopped(github.call, asked, signal);
    case "watch":
      // Reading again is as good as knowing the earlier answer.
      return { kind: "absent" };
    default:
      return await findDispatched(github, asked, message, signal);
  }
}
