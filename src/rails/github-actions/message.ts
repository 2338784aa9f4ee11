/**
 * The payloads of rows for GitHub Actions, and how a run is recognised as the row's own.
 *
 * The workflow's `run-name` must show the run's mark (docs/guides/rails.md): only by it can a run be found
 * again. The mark is the job's id, or a longer text with the id if a job has several runs.
 */
import { z } from "zod";

const name = z.string().regex(/^[\w.-]{1,100}$/, "letters, digits, dots, dashes and underscores");
const jobId = z.string().regex(/^[\w.:-]{4,100}$/, "4 to 100 letters, digits, dots, colons, dashes and underscores");
const runMark = z
  .string()
  .regex(/^[\w.:/-]{4,150}$/, "4 to 150 letters, digits, dots, colons, slashes, dashes and underscores");

/** GitHub's own limits. */
const maxInputs = 25;
const maxInputChars = 65_535;

/** Everyone who can see a run sees its inputs. */
const secretName = /secret|token|password|passwd|credential|api_?key|private_?key/i;

const place = {
  owner: name,
  repo: name,
  /** The file's name or the workflow's number. */
  workflow: z.union([name, z.int().positive()]),
};

const dispatchSchema = z
  .object({
    operation: z.literal("dispatch").optional(),
    ...place,
    ref: z.string().min(1).max(255),
    inputs: z.record(z.string().min(1).max(100), z.union([z.string(), z.number(), z.boolean()])).default({}),
    job_id: jobId,
    run_mark: runMark.optional(),
  })
  .superRefine(({ inputs, job_id: id, run_mark: mark }, context) => {
    const complain = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    if (inputs["job_id"] !== undefined && inputs["job_id"] !== id) complain("inputs", "job_id differs from the job's");
    if (Object.keys({ ...inputs, job_id: id }).length > maxInputs)
      complain("inputs", `more than ${maxInputs}, job_id included`);
    if (JSON.stringify(inputs).length > maxInputChars) complain("inputs", `longer than ${maxInputChars} characters`);
    const secret = Object.keys(inputs).find((each) => secretName.test(each));
    if (secret !== undefined) complain("inputs", "a name that sounds like a secret; inputs are shown with the run");
    // A run of another job would be taken for this one's.
    if (mark !== undefined && !names(mark, id)) complain("run_mark", "does not show the job's id");
  });

/** Selects the workflow's runs that show the mark and were started since then. */
const runs = { ...place, run_mark: runMark, since: z.iso.datetime({ offset: true, error: "a time with its offset" }) };

const stopSchema = z.object({ operation: z.literal("stop"), ...runs });
const watchSchema = z.object({ operation: z.literal("watch"), ...runs, run_id: z.int().positive().optional() });

/** A row that names no operation is a dispatch. */
export const githubMessageSchema = z.discriminatedUnion("operation", [dispatchSchema, stopSchema, watchSchema]);

export type Dispatch = z.infer<typeof dispatchSchema>;
export type Stop = z.infer<typeof stopSchema>;
export type Watch = z.infer<typeof watchSchema>;

/** The mark in the name of a dispatch's run. */
export function markOf({ run_mark: mark, job_id: id }: Dispatch): string {
  return mark ?? id;
}

/** GitHub accepts only texts. */
export function inputsOf({ inputs, job_id: id }: Dispatch): Record<string, string> {
  const texts = Object.entries(inputs).map(([key, value]) => [key, String(value)] as const);
  return { ...Object.fromEntries(texts), job_id: id };
}

/** Whether a run's name shows the mark as a separate word, and not as a part of a longer one. */
export function names(title: string, mark: string): boolean {
  for (let at = title.indexOf(mark); at >= 0; at = title.indexOf(mark, at + 1)) {
    const before = title.charAt(at - 1);
    const after = title.charAt(at + mark.length);
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}
