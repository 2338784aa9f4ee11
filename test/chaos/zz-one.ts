import { copyWithPatches } from "/work/main/test/chaos/planted/patch.ts";
import { plantedBugs } from "/work/main/test/chaos/planted/bugs.ts";
import { scenarioSettings } from "/work/main/test/chaos/planted/scenarios.ts";
import { runOnce } from "/work/main/test/chaos/run-once.ts";
import { renderRun } from "/work/main/test/chaos/report.ts";
const bug = plantedBugs.find((b) => b.name.includes(process.argv[2]!))!;
await using copy = await copyWithPatches(bug.patches);
const s0 = scenarioSettings(
  bug.scenario,
  Number(process.argv[3] ?? 5),
  process.argv[4] === "control" ? "/work/main/" : copy.dir,
);
const s = process.argv[4] === "control" ? s0 : (bug.settings?.(s0) ?? s0);
console.log(renderRun(await runOnce(s, { signal: new AbortController().signal, onProgress: (t) => console.error(t) })));
