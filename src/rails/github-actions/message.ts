/**
 * What rows for GitHub Actions say, and how a run is known to be a row's own.
 *
 * The job's id goes into the inputs, and the workflow's `run-name` must show it (docs/guides/rails.md): that is the only
 * mark by which a run can be found again.
 */
import { z } from "zod";

const name = z.string().regex(/^[\w.-]{1,100}$/, "letters, digits, dots, dashes and underscores");
const jobId = z.string().regex(/^[\w.:-]{4,100}$/, "4 to 100 letters, digits, dots, colons, dashes and underscores");

/** GitHub's own limits. */
const maxInputs = 25;
const maxInputChars = 65_535;

/** Whoever can see a run sees its inputs. */
const secretName = /secret|token|password|passwd|credential|api_?key|private_?key/i;

export const dispatchSchema = z
  .object({
    owner: name,
    repo: name,
    /** The file's name or the workflow's number. */
    workflow: z.union([name, z.int().positive()]),
    ref: z.string().min(1).max(255),
    inputs: z.record(z.string().min(1).max(100), z.union([z.string(), z.number(), z.boolean()])).default({}),
    job_id: jobId,
  })
  .superRefine(({ inputs, job_id: id }, context) => {
    const complain = (message: string): void => context.addIssue({ code: "custom", path: ["inputs"], message });
    if (inputs["job_id"] !== undefined && inputs["job_id"] !== id) complain("job_id differs from the job's");
    if (Object.keys({ ...inputs, job_id: id }).length > maxInputs) complain(`more than ${maxInputs}, job_id included`);
    if (JSON.stringify(inputs).length > maxInputChars) complain(`longer than ${maxInputChars} characters`);
    const secret = Object.keys(inputs).find((each) => secretName.test(each));
    if (secret !== undefined) complain("a name that sounds like a secret; inputs are shown with the run");
  });

export type Dispatch = z.infer<typeof dispatchSchema>;

/** GitHub takes texts only. */
export function inputsOf({ inputs, job_id: id }: Dispatch): Record<string, string> {
  const texts = Object.entries(inputs).map(([key, value]) => [key, String(value)] as const);
  return { ...Object.fromEntries(texts), job_id: id };
}

/** Whether a run's name shows the job's id as a word of its own, and not as a part of a longer one. */
export function names(title: string, id: string): boolean {
  for (let at = title.indexOf(id); at >= 0; at = title.indexOf(id, at + 1)) {
    const before = title.charAt(at - 1);
    const after = title.charAt(at + id.length);
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}
