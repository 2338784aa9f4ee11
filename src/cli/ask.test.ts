import { expect, test } from "vitest";
import { ask, askText, type Person } from "./ask.ts";

function person(answer: string | undefined, present = true): Person & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    present,
    heard,
    tell: (text) => void heard.push(text),
    answer: (question) => {
      heard.push(question);
      return Promise.resolve(answer);
    },
  };
}

test.each(["y", "Y", "yes", " Yes "])("%j is a yes", async (answer) => {
  expect(await ask("Sure?", null, person(answer))).toBe("yes");
});

test.each(["", "n", "no", "yep", "yes please", undefined])("%j is a no", async (answer) => {
  expect(await ask("Sure?", null, person(answer))).toBe("no");
});

test("the warning comes before the question", async () => {
  const somebody = person("y");
  await ask("Sure?", "Careful.", somebody);
  expect(somebody.heard).toEqual(["Careful.", "Sure?"]);
});

test("where nobody is, nothing is asked", async () => {
  const nobody = person("y", false);
  expect(await ask("Sure?", "Careful.", nobody)).toBe("nobody");
  expect(nobody.heard).toEqual([]);
});

test("a text is what somebody types, and nothing where nobody is", async () => {
  expect(await askText("Why?", person("because"))).toBe("because");
  expect(await askText("Why?", person(undefined))).toBeUndefined();
  const nobody = person("because", false);
  expect(await askText("Why?", nobody)).toBeUndefined();
  expect(nobody.heard).toEqual([]);
});
