/** Shows what a repository needs: a new callback secret (only once), the address of callbacks, and where to store both. */
import { printLine } from "../../output.ts";

type Repository = { readonly owner: string; readonly repo: string } | null;

function nameOf(repository: Repository): string {
  return repository === null ? "<owner/name>" : `${repository.owner}/${repository.repo}`;
}

export function showCallbackAddress(address: string, repository: Repository): void {
  printLine();
  printLine("Runs report to the address in a variable of the repository. Set it at GitHub, next to the secret:");
  printLine(`  gh variable set HEADROOM_CALLBACK_URL --repo ${nameOf(repository)} --body ${address}`);
}

export function showNewSecret(secret: string, repository: Repository): void {
  const repo = nameOf(repository);
  printLine();
  printLine(`  ${secret}`);
  printLine();
  printLine("This is the secret that runs sign their callbacks with. It is not shown again. Store it at GitHub now:");
  printLine(`  gh secret set HEADROOM_CALLBACK_SECRET --repo ${repo}`);
  printLine("  (or in the repository under Settings > Secrets and variables > Actions, as HEADROOM_CALLBACK_SECRET)");
}
