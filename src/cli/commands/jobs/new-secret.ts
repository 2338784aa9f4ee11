/** How a new callback secret is shown: once, with where it belongs. */
import { printLine } from "../../output.ts";

export function showNewSecret(
  secret: string,
  repository: { readonly owner: string; readonly repo: string } | null,
): void {
  const repo = repository === null ? "<owner/name>" : `${repository.owner}/${repository.repo}`;
  printLine();
  printLine(`  ${secret}`);
  printLine();
  printLine("This is the secret that runs sign their callbacks with. It is not shown again. Store it at GitHub now:");
  printLine(`  gh secret set HEADROOM_CALLBACK_SECRET --repo ${repo}`);
  printLine("  (or in the repository under Settings > Secrets and variables > Actions, as HEADROOM_CALLBACK_SECRET)");
}
