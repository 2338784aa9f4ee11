/** How a mail looks in a real browser: wide and narrow, light and dark. It fits, is readable, and makes no requests. */
import { describe, expect, test } from "vitest";
import { startBrowser } from "../../helpers/browser.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("nothing");
const browser = startBrowser();

async function mailOf(count: number): Promise<string> {
  const about = `cr-${count}`;
  const told: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    told.push(
      await stage.tell({
        about,
        title: `Your request ${n} was approved by everybody who was asked`,
        body: `2 × large in eu-central-1, needed by 1 March.\n${"Averylongwordthatnobodycanbreak".repeat(4)} & <b>more</b>`,
        url: `https://capacity.example/requests/${n}?from=mail&why=${"x".repeat(200)}`,
      }),
    );
  }
  await stage.release();
  return (await stage.payloadOf(told[0] ?? ""))["html"] as string;
}

/** Contrast by WCAG of each text against its background. Runs in the page, whose types are not ours. */
const contrasts = `(() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each !== null; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (channels(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("h1, h2, p, a")].map((element) => {
    const [text, ground] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    return { words: (element.textContent ?? "").slice(0, 30), contrast };
  });
})()`;

describe.each([1, 3])("a mail with %i notifications", (count) => {
  test.each([
    ["a desktop", 1024, "light"],
    ["a desktop", 1024, "dark"],
    ["a phone", 320, "light"],
    ["a phone", 320, "dark"],
  ] as const)("on %s with width %i, %s, fits and is readable", async (_what, width, colorScheme) => {
    const context = await browser.current.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.setContent(await mailOf(count));
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    for (const { words, contrast } of await page.evaluate<{ words: string; contrast: number }[]>(contrasts)) {
      expect([words, contrast >= 4.5]).toEqual([words, true]);
    }
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 2 }).count()).toBe(count > 1 ? count : 0);
    expect(await page.getByRole("link", { name: "View" }).count()).toBe(count);
    expect(await page.title()).toMatch(/^Your request 1 was approved/);
    expect(await page.evaluate<string>("document.documentElement.lang")).toBe("en");
    expect(asked).toEqual([]);
    await context.close();
  });
});
