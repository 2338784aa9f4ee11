/** The log of a job as lines: what its runs did and reported, and what people did, in order of time. */
import type { Job, JobEvent, JobRun } from "../../../provisioning/index.ts";
import { visible } from "../../output.ts";

export interface LogLine {
  /** Stays the same while the job continues, so that printed lines can be recognised. */
  readonly id: string;
  readonly at: Date;
  readonly run: string | null;
  readonly what: string;
  readonly step: string | null;
  readonly progress: number | null;
  /** The error that a run reported, or the reason that a person gave. */
  readonly text: string | null;
  readonly by: string | null;
  readonly runId: number | null;
}

/** The job's own log without the actions of runs, which are shown with the runs. */
const shownByRuns = new Set(["DISPATCHED", "CLAIMED", "SUCCEEDED", "FAILED"]);

export function logLines(job: Job): LogLine[] {
  const events = job.history.filter(({ event }) => !shownByRuns.has(event)).map(lineOfEvent);
  return [...events, ...job.runs.flatMap(linesOfRun)].toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

const nothing = { run: null, step: null, progress: null, text: null, by: null, runId: null } as const;

function lineOfEvent(event: JobEvent): LogLine {
  const { seq, at, reason: text } = event;
  // Automatic events have no actor.
  const by = event.actorType === "system" ? null : event.actorId;
  return { ...nothing, id: `event ${seq}`, at, what: event.event.toLowerCase(), by, text };
}

function linesOfRun(run: JobRun): LogLine[] {
  const { runId } = run;
  const name = `${run.task} ${run.attempt}`;
  const line = (what: string, at: Date | null, more: Partial<LogLine> = {}): LogLine[] =>
    at === null ? [] : [{ ...nothing, id: `${name} ${what}`, at, run: name, what, ...more }];
  return [
    ...line("dispatched", run.dispatchedAt),
    ...line("claimed", run.claimedAt, { runId }),
    ...run.steps.flatMap(({ at, step, progress }, index) =>
      line("step", at, { id: `${name} step ${index}`, step, progress }),
    ),
    ...line(run.status, run.endedAt, { step: run.failedStep, text: run.error ?? wordsFor(run.endedBecause) }),
  ];
}

function wordsFor(endedBecause: string | null): string | null {
  return endedBecause === null || endedBecause === "reported" ? null : endedBecause.replaceAll("_", " ");
}

/** One line of text: the time, the run, and what happened. */
export function formatLine(line: LogLine): string {
  const progress = line.progress === null ? null : `${line.progress} %`;
  const what =
    line.what === "step"
      ? [line.step, progress]
      : [line.what.replaceAll("_", " "), line.step === null ? null : `at ${line.step}`];
  const said = [
    what.filter((part) => part !== null).join(line.what === "step" ? ", " : " "),
    line.by === null ? null : `by ${line.by}`,
    line.runId === null ? null : `by run ${line.runId}`,
  ];
  const text = line.text === null ? "" : `: ${line.text}`;
  const words = `${said.filter((part) => part !== null).join(" ")}${text}`;
  return `${line.at.toISOString()}  ${(line.run ?? "job").padEnd(12)}  ${visible(words)}`;
}
