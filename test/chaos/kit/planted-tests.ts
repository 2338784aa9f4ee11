/**
 * The tests of a subject: its short run, and the bugs that its runs must find. All bugs still fit the code, and one is planted.
 */
import { expect, it } from "vitest";
import { secondTier } from "../../helpers/clusters.ts";
import { requireFitting } from "./patch.ts";
import { runPlanted, type CodeBug, type PlantedSuite } from "./planted.ts";
import { renderPlanted } from "./report.ts";
import { chosenOf, fewOf, ofTier, type SubjectName, type TierTest } from "./tiers.ts";

const boundMs = 240_000;

export interface SubjectTests<Bug extends CodeBug> {
  readonly shortRun: TierTest;
  readonly planted: PlantedSuite<Bug>;
  /** Of the planted bug's scene. */
  readonly seed: number;
}

/** Call it while tests are being collected. */
export async function testSubject<Bug extends CodeBug>(
  subject: SubjectName,
  { shortRun, planted, seed }: SubjectTests<Bug>,
): Promise<void> {
  const few = await fewOf(subject);
  const name = planted.bugs[await chosenOf(planted.bugs.length)]?.name ?? "";
  const catches: TierTest = {
    name: `the planted bug is caught, and the unchanged code passes the same scene: ${name}`,
    async play() {
      const result = await runPlanted(planted, { seed, only: name, signal: new AbortController().signal });
      expect(
        result.outcomes.map(({ bug, ok }) => ({ bug, ok })),
        renderPlanted(result),
      ).toEqual([
        { bug: null, ok: true },
        { bug: name, ok: true },
      ]);
    },
  };
  const ours = [...(await ofTier([shortRun], few.runs)), ...(await ofTier([catches], few.bugs))];
  it.each(ours)("$name", { timeout: boundMs }, ({ play }) => play());
  if (secondTier) return;
  it("every planted bug still fits the code", async () => {
    await expect(requireFitting(planted.bugs.flatMap(({ patches }) => patches))).resolves.toBeUndefined();
  });
}
