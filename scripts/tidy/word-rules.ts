/**
 * Plain English: words and phrases that make a native speaker stumble, each with what an engineer would write instead. Add a line for each
 * new one.
 *
 * Landed migrations never change, so they are left out.
 */
import type { Complaint, Repository } from "./repository.ts";

const plainer: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bin vain\b/i, "without effect, for nothing"],
  [/\bdear(er)?\b/i, "expensive"],
  [/\boftener\b/i, "more often"],
  [/\bnought\b/i, "zero"],
  [/\banew\b/i, "again"],
  [/\bshall\b/i, "will, must, may"],
  [/\bhence\b/i, "so"],
  [/\bupon\b/i, "on"],
  [/\blest\b/i, "so that … not"],
  [/\b(there|where|here)(of|in|by|upon|from|unto)\b(?!:)/i, "of it, in it, by it"],
  [/\bin the clothes of\b/i, "wrapped as"],
  [/\bin earnest\b/i, "live, for real"],
  [/\b(in|into) a circle\b|\ba circle cannot\b/i, "in a deadlock"],
  [/\bonce more\b/i, "again"],
  [/\bwritten down\b/i, "recorded"],
  [/\bcalled back\b(?= key| token)/i, "revoked"],
  [/\bput (away|aside)\b/i, "dismissed, set aside"],
  [/\b(is|are|was|were|be|been) told of\b/i, "reported"],
  [/\bthe word of\b/i, "the report of"],
  [/\bfor ever\b/i, "forever"],
  [/\b(is|are|was|were) theirs no more\b|\bcounts? no more\b/i, "no longer"],
  [/\bends us\b/i, "ends this process"],
  [/\b(that|which|it|but) is none\b(?! of)/i, "is not one, is invalid"],
];

/** Internal names: a bound is a maximum. Exposed names stay (`p_most`, and fields of types that the package exports). */
const namedMost = /\bmost(?!(?:Attempts|Cleanups|Reminders)\b)[A-Z]\w*|\bv_most\w*/;

export function wordRules(repository: Repository): Complaint[] {
  return repository
    .matching(/\.(ts|sql|md|ya?ml|mjs|js|html|css)$/)
    .filter(({ path }) => !/^sql\/(migrations\/|schema\.sql)|^scripts\/tidy\/word-rules\.ts$/.test(path))
    .flatMap(({ path, lines }) =>
      lines.flatMap((text, index): Complaint[] => {
        const found = plainer.flatMap(([pattern, instead]): Complaint[] => {
          const match = pattern.exec(text);
          return match === null ? [] : [{ path, line: index + 1, text: `"${match[0]}": say it plainly (${instead})` }];
        });
        const named = namedMost.exec(text);
        return named === null
          ? found
          : [...found, { path, line: index + 1, text: `${named[0]}: a maximum is named max…` }];
      }),
    );
}
