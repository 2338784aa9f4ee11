/**
 * The one stylesheet of all pages that the server renders. It is inline in the page, so that a page is one request, and its hash is in the
 * content security policy, so that no other style applies.
 *
 * Contrast is at least 4.5:1 for text and 3:1 for edges of controls, in light and in dark.
 */
import { raw } from "hono/html";
import { sha256 } from "../../db/hash.ts";

const css = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f4; --paper: #ffffff; --ink: #1c2320; --quiet: #55605a; --line: #d9deda; --edge: #7c8781;
  --accent: #1d5c4b; --accent-ink: #ffffff; --accent-over: #164a3c; --warn: #8a4b08; --warn-ground: #fdf3e4; --good-ground: #e9f4ef;
  --focus: #1b66d1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121614; --paper: #1a201d; --ink: #e8ece9; --quiet: #a5b0aa; --line: #2d3531; --edge: #77837d;
    --accent: #7fd0b6; --accent-ink: #0c1f19; --accent-over: #9adfc8; --warn: #f0b46a; --warn-ground: #2b2316; --good-ground: #17291f;
    --focus: #8ab8ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, .top, .foot { max-width: 42rem; margin: 0 auto; padding: 0 1.25rem; }
main.wide, .top.wide { max-width: 64rem; }
.top { padding-top: 2.5rem; padding-bottom: 1rem; color: var(--quiet); font-size: .95rem; letter-spacing: .01em; }
.foot { padding-top: 1.5rem; padding-bottom: 3rem; color: var(--quiet); font-size: .9rem; }
.paper { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 2rem; }
h1 { font-size: 1.6rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; margin: 0 0 .5rem; text-wrap: balance; }
h2 { font-size: 1.1rem; line-height: 1.3; font-weight: 650; margin: 2rem 0 .5rem; }
p { margin: 0 0 1rem; max-width: 62ch; }
a { color: var(--accent); text-underline-offset: .15em; }
.quiet { color: var(--quiet); }
.note { border-left: .25rem solid var(--edge); padding: .75rem 1rem; background: var(--ground); border-radius: 0 .4rem .4rem 0; margin: 1.25rem 0; }
.note > :last-child { margin-bottom: 0; }
.note.warn { border-color: var(--warn); background: var(--warn-ground); }
.note.good { border-color: var(--accent); background: var(--good-ground); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .55rem 1.5rem; margin: 1.5rem 0; padding: 1.25rem 0; border: solid var(--line); border-width: 1px 0; }
dt { color: var(--quiet); }
dd { margin: 0; font-weight: 550; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.said { font-weight: 400; }
form { margin: 0; }
form + p { margin-top: 1rem; }
label { display: block; font-weight: 550; margin-bottom: .35rem; }
.hint { color: var(--quiet); font-size: .9rem; margin: .35rem 0 .75rem; }
textarea, input, select { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: .45rem; padding: .6rem .75rem; }
textarea { min-height: 6.5rem; resize: vertical; }
.field { margin-bottom: 1.4rem; }
.field .hint { margin-bottom: 0; }
.error { color: var(--warn); font-weight: 600; margin: 0 0 .35rem; }
[aria-invalid] { border-color: var(--warn); border-width: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.wizard ol { list-style: none; display: flex; gap: .5rem; margin: 0 0 1.5rem; padding: 0; color: var(--quiet); font-size: .9rem; }
.wizard li { flex: 1 1 0; border-top: .25rem solid var(--line); padding-top: .5rem; }
.wizard a { display: block; }
.wizard li:has(a) { border-color: var(--edge); }
.wizard [aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
.back, .refresh { margin: 1.25rem 0 0; }
.change { margin-left: .4rem; font-weight: 400; }
.steps { list-style: none; margin: 1rem 0 1.5rem; padding: 0; }
.steps > li { border-left: .2rem solid var(--line); padding: .1rem 0 1rem 1rem; }
.steps > .done { border-color: var(--accent); }
.steps > .now { border-color: var(--focus); }
.steps > .later { color: var(--quiet); }
.steps p, .steps ul { margin: .2rem 0 .3rem; }
progress { width: 100%; height: .6rem; accent-color: var(--accent); }
button, .button { display: inline-block; font: inherit; font-weight: 600; line-height: 1.3; text-decoration: none; cursor: pointer; border-radius: .5rem; padding: .75rem 1.4rem; min-height: 2.9rem; border: 1px solid var(--accent); background: var(--accent); color: var(--accent-ink); }
button:hover, .button:hover { background: var(--accent-over); border-color: var(--accent-over); }
.plain { background: transparent; color: var(--ink); border-color: var(--edge); }
.plain:hover { background: var(--ground); border-color: var(--ink); }
details { margin-top: 1.25rem; border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; font-weight: 600; padding: .4rem 0; width: max-content; max-width: 100%; }
details[open] > summary { margin-bottom: .75rem; }
.choices { list-style: none; margin: 1rem 0 0; padding: 0; display: grid; gap: .6rem; }
.choices button, .choices .button { width: 100%; text-align: left; }
.choices small { display: block; font-weight: 400; opacity: .85; }
fieldset { border: 0; border-top: 1px solid var(--line); margin: 0 0 1.25rem; padding: 1rem 0 0; min-width: 0; }
legend { float: left; width: 100%; font-weight: 650; padding: 0; }
legend + * { clear: both; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem 1rem; }
.inbox { list-style: none; margin: 1.25rem 0 0; padding: 0; }
.inbox > li { border-top: 1px solid var(--line); padding: 1rem 0 1rem 1rem; border-left: .25rem solid transparent; }
.inbox > .new { border-left-color: var(--accent); }
.inbox h2 { margin: 0 0 .25rem; overflow-wrap: anywhere; }
.inbox .said { white-space: pre-line; overflow-wrap: anywhere; margin-bottom: .25rem; }
.tag { font-size: .8rem; font-weight: 650; color: var(--accent); border: 1px solid var(--accent); border-radius: .3rem; padding: .05rem .4rem; vertical-align: .12em; }
.row { display: flex; flex-wrap: wrap; gap: .6rem; }
.row form { display: contents; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .92em; }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; overflow-wrap: anywhere; }
p code, li a { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
pre.scroll { background: var(--ground); padding: .75rem 1rem; border-radius: .4rem; }
nav ul { columns: 15rem; padding-left: 1.1rem; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: .25rem; }
button:focus-visible, .button:focus-visible { border-radius: .5rem; }
@media (max-width: 34rem) {
  .top { padding-top: 1.25rem; }
  .paper { padding: 1.35rem 1.15rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .75rem; }
  dd:last-child { margin-bottom: 0; }
  button, .button { width: 100%; text-align: center; }
  .wizard li span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
}
@media (prefers-reduced-motion: no-preference) { button, .button { transition: background-color .12s; } }
@media print { body { background: none; } .paper { border: none; padding: 0; } form, details { display: none; } }
`;

/** For `style-src`: exactly this style, and nothing that was injected. */
export const styleSource = `'sha256-${sha256(css, "base64")}'`;

/** The style element. It contains the text that was hashed, byte for byte. */
export const styleElement = raw(`<style>${css}</style>`);
