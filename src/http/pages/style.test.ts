/** Colours are readable: contrast by the formula of WCAG 2.2, in light and in dark. */
import { describe, expect, it } from "vitest";
import { styleElement } from "./style.ts";

type Palette = Readonly<Record<string, string>>;

function palettes(): { light: Palette; dark: Palette } {
  const [light = {}, dark = {}] = [...styleElement.matchAll(/:root \{([^}]*)\}/g)].map((block) =>
    Object.fromEntries(
      [...(block[1] ?? "").matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex]),
    ),
  );
  return { light, dark };
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(Object.entries(palettes()))("in %s", (_scheme, palette) => {
  const between = (one: string, other: string): number => contrast(palette[one] ?? "", palette[other] ?? "");

  it.each([
    ["ink", "paper"],
    ["ink", "ground"],
    ["quiet", "paper"],
    ["quiet", "ground"],
    ["ink", "warn-ground"],
    ["ink", "good-ground"],
    ["warn", "paper"],
    ["accent", "paper"],
    ["accent-ink", "accent"],
    ["accent-ink", "accent-over"],
  ])("text in %s can be read on %s", (text, ground) => {
    expect(between(text, ground)).toBeGreaterThanOrEqual(4.5);
  });

  it.each([
    ["edge", "paper"],
    ["focus", "paper"],
    ["focus", "ground"],
    ["accent", "paper"],
    ["warn", "warn-ground"],
    ["warn", "paper"],
  ])("the edge of a control in %s stands out from %s", (edge, ground) => {
    expect(between(edge, ground)).toBeGreaterThanOrEqual(3);
  });
});
