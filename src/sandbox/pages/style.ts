/**
 * The stylesheet of the stand-ins' pages. Text has a contrast of at least 4.5:1, in light and in dark; everything fits a phone.
 */
export const css = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f4; --paper: #ffffff; --ink: #1c2320; --quiet: #55605a; --line: #d9deda; --edge: #7c8781;
  --accent: #1d5c4b; --accent-ink: #ffffff; --accent-over: #164a3c; --bad: #a3261f; --bad-ground: #fcebea; --bad-ink: #ffffff;
  --warn: #8a4b08; --warn-ground: #fdf3e4; --mention: #1b5fae; --mention-ground: #e8f1fb; --focus: #1b66d1; --side: #eceeeb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121614; --paper: #1a201d; --ink: #e8ece9; --quiet: #a5b0aa; --line: #2d3531; --edge: #77837d;
    --accent: #7fd0b6; --accent-ink: #0c1f19; --accent-over: #9adfc8; --bad: #ff9d94; --bad-ground: #331a18; --bad-ink: #2b0a08;
    --warn: #f0b46a; --warn-ground: #2b2316; --mention: #9cc7fb; --mention-ground: #16273b; --focus: #8ab8ff; --side: #161b18;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding: 4rem 0 1rem; } html:has(main.slack) { scroll-padding-bottom: 8rem; }
body { margin: 0; overflow-wrap: anywhere; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: .2rem; }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem 1rem; z-index: 9; }
.top { position: sticky; top: 0; z-index: 3; display: flex; gap: 1.25rem; align-items: center; height: 3.2rem; padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--paper); }
.top strong { margin-right: .5rem; white-space: nowrap; } .top nav { display: flex; gap: 1.1rem; overflow-x: auto; padding: .3rem; }
.top a { white-space: nowrap; text-decoration: none; color: var(--quiet); padding: .3rem .1rem; }
.top a:hover { color: var(--ink); text-decoration: underline; } .top a[aria-current] { color: var(--ink); font-weight: 650; box-shadow: 0 2px 0 var(--accent); }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main.narrow { max-width: 34rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .5rem; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; } h3 { font-size: 1rem; margin: 0 0 .4rem; }
p { margin: 0 0 .9rem; max-width: 66ch; }
.quiet { color: var(--quiet); } .small { font-size: .88rem; } .nowrap { white-space: nowrap; }
.paper { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem 1.4rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1rem; }
.grid .paper { margin: 0; } .paper > :first-child { margin-top: 0; } .paper > :last-child { margin-bottom: 0; } .paper ul:not(.list) { margin: 0 0 .9rem; padding-left: 1.2rem; }
.note { border-left: .25rem solid var(--edge); padding: .6rem 1rem; background: var(--paper); border-radius: 0 .4rem .4rem 0; margin: 0 0 1rem; }
.note.bad { border-color: var(--bad); background: var(--bad-ground); } .note.warn { border-color: var(--warn); background: var(--warn-ground); }
.note > :last-child { margin-bottom: 0; }
form { margin: 0; }
label, legend { display: block; font-weight: 600; margin: 0 0 .3rem; padding: 0; }
.hint { color: var(--quiet); font-size: .9rem; margin: .25rem 0 0; }
.error { color: var(--bad); font-size: .92rem; font-weight: 600; margin: .25rem 0 0; }
input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: .45rem; padding: .5rem .65rem; width: 100%; min-height: 2.6rem; }
input[type=radio], input[type=checkbox] { width: 1.15rem; min-height: 1.15rem; height: 1.15rem; margin: .2rem .55rem 0 0; flex: none; accent-color: var(--accent); }
textarea { min-height: 6rem; resize: vertical; }
.field { margin: 0 0 1.1rem; border: 0; padding: 0; min-width: 0; }
.option { display: flex; font-weight: 400; margin: .25rem 0; } .option small { display: block; color: var(--quiet); }
.row { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; } .row > * { flex: 1 1 8rem; } .row > .tight { flex: 0 0 auto; }
button, .button { display: inline-block; font: inherit; font-weight: 600; line-height: 1.3; text-decoration: none; cursor: pointer; border-radius: .45rem; padding: .55rem 1rem; min-height: 2.6rem; border: 1px solid var(--edge); background: var(--paper); color: var(--ink); }
button:hover, .button:hover { border-color: var(--ink); background: var(--ground); }
button.primary, .button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); } button.primary:hover { background: var(--accent-over); }
button.danger { color: var(--bad); border-color: var(--bad); } button.danger:hover { background: var(--bad-ground); }
button.small { min-height: 2rem; padding: .3rem .7rem; font-size: .9rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; } .buttons form { display: contents; } .buttons + p, .row + .buttons, article .buttons, iframe + details, .list + iframe, .list + pre { margin-top: .9rem; }
table { width: 100%; border-collapse: collapse; font-size: .93rem; } th, td { text-align: left; vertical-align: top; padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { color: var(--quiet); font-weight: 600; } .scroll { overflow-x: auto; } table.wide { min-width: 38rem; } select { text-overflow: ellipsis; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
code { background: var(--side); border-radius: .25rem; padding: .05rem .3rem; }
blockquote { margin: .2rem 0; padding: 0 0 0 .75rem; border-left: .25rem solid var(--line); color: var(--quiet); }
.badge { display: inline-block; border-radius: 1rem; padding: .05rem .6rem; font-size: .82rem; font-weight: 600; border: 1px solid var(--edge); white-space: nowrap; }
.badge.good { border-color: var(--accent); color: var(--accent); } .badge.bad { border-color: var(--bad); color: var(--bad); }
.list { list-style: none; margin: 0; padding: 0; } .list > li + li { margin-top: .6rem; }
.steps { list-style: none; margin: 0 0 .9rem; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; } .badge.now { border-color: var(--mention); color: var(--mention); }
.choices { list-style: none; margin: 1rem 0 0; padding: 0; display: grid; gap: .5rem; } .choices button { width: 100%; text-align: left; } .choices small { display: block; font-weight: 400; color: var(--quiet); }
.empty { color: var(--quiet); padding: 2rem 0; text-align: center; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

main.slack { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: none; padding: 0; min-height: calc(100vh - 3.2rem); }
.rail { background: var(--side); border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 3.2rem; height: calc(100vh - 3.2rem); overflow-y: auto; }
.rail h2 { margin: 1.2rem 0 .3rem; font-size: .85rem; color: var(--quiet); } .rail ul { list-style: none; margin: 0; padding: 0; }
.rail li a { display: block; padding: .35rem .6rem; border-radius: .4rem; text-decoration: none; color: var(--ink); } .rail li a:hover { background: var(--line); }
.rail li a[aria-current] { background: var(--accent); color: var(--accent-ink); font-weight: 600; }
.channel { display: flex; flex-direction: column; min-width: 0; }
.channel > header { padding: .8rem 1.25rem; border-bottom: 1px solid var(--line); } .channel > header h1 { font-size: 1.15rem; margin: 0; } .channel > header p { margin: 0; }
.messages { flex: 1; padding: 1rem 1.25rem; list-style: none; margin: 0; }
.message { display: grid; grid-template-columns: 2.4rem minmax(0, 1fr); gap: .1rem .75rem; padding: .6rem .5rem; border-radius: .5rem; }
.message + .message { margin-top: .4rem; }
.avatar { width: 2.4rem; height: 2.4rem; border-radius: .5rem; background: var(--accent); color: var(--accent-ink); display: grid; place-items: center; font-weight: 700; font-size: .9rem; }
.avatar.person { background: var(--mention-ground); color: var(--mention); }
.byline { font-size: .9rem; } .byline time, .byline .quiet { font-size: .82rem; }
.blocks > * { margin: .35rem 0 .6rem; } .blocks h3 { font-size: 1.12rem; } .blocks { max-width: 46rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(9.5rem, 100%), 1fr)); gap: .5rem 1.25rem; }
.context { color: var(--quiet); font-size: .88rem; display: flex; flex-wrap: wrap; gap: .3rem .8rem; }
.mention { color: var(--mention); background: var(--mention-ground); border-radius: .25rem; padding: 0 .2rem; }
.thread { margin: .4rem 0 0; padding: .2rem 0 0 .9rem; border-left: 2px solid var(--line); list-style: none; }
.thread .message { grid-template-columns: 1.8rem minmax(0, 1fr); padding: .3rem 0; } .thread .avatar { width: 1.8rem; height: 1.8rem; font-size: .72rem; }
.whisper { background: var(--warn-ground); }
.composer { position: sticky; bottom: 0; background: var(--ground); border-top: 1px solid var(--line); padding: .8rem 1.25rem 1rem; }
dialog.modal { position: fixed; inset: 0; margin: auto; width: min(34rem, calc(100vw - 2rem)); max-height: calc(100vh - 3rem); max-height: calc(100dvh - 3rem); overflow: hidden; border: 1px solid var(--line); border-radius: .75rem; padding: 0; background: var(--paper); color: var(--ink); box-shadow: 0 1rem 3rem #0005; z-index: 5; }
dialog.modal::backdrop { background: #0006; }
.modal header { padding: 1rem 1.4rem; border-bottom: 1px solid var(--line); } .modal header h2 { margin: 0; font-size: 1.2rem; }
dialog.modal[open], .modal form { display: flex; flex-direction: column; } .modal form { min-height: 0; position: relative; }
.modal .inside { padding: 1.2rem 1.4rem .4rem; } .modal form > .inside { position: relative; min-height: 0; overflow-y: auto; overscroll-behavior: contain; }
.modal footer { flex: none; padding: .8rem 1.4rem; border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .6rem; justify-content: flex-end; }
.shade { position: fixed; inset: 0; background: #0006; z-index: 4; }
iframe.letter { width: 100%; min-height: 26rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; }
.channels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1rem; margin: .6rem 0; } .channels .paper { margin: 0; } .channels .whole { grid-column: 1 / -1; }
.channels iframe.letter { min-height: 40rem; } .words { font: inherit; } .jump { display: flex; flex-wrap: wrap; gap: .2rem 1rem; } summary { padding: .3rem 0; cursor: pointer; }
.split { display: grid; grid-template-columns: minmax(14rem, 22rem) minmax(0, 1fr); gap: 1.25rem; align-items: start; }
.mails a { display: block; text-decoration: none; color: inherit; padding: .6rem .8rem; border-radius: .5rem; border: 1px solid var(--line); background: var(--paper); } .mails a[aria-current] { border-color: var(--accent); box-shadow: inset .25rem 0 0 var(--accent); }
@media (max-width: 46rem) {
  .top { gap: .5rem; height: 2.8rem; padding: 0 .6rem; } .top strong { display: none; } .top nav { gap: .65rem; padding: .3rem 0; font-size: .93rem; }
  main.slack { grid-template-columns: minmax(0, 1fr); align-content: start; min-height: calc(100vh - 2.8rem); } .channel { min-height: calc(100vh - 9rem); }
  .rail { top: 2.8rem; z-index: 2; height: auto; overflow: visible; display: flex; flex-wrap: wrap; gap: .3rem; border-right: 0; border-bottom: 1px solid var(--line); padding: .4rem .9rem; }
  .rail form { flex: 1 0 100%; display: flex; gap: .6rem; align-items: center; } .rail label { flex: none; margin: 0; } .rail select { min-width: 0; flex: 1; }
  .rail h2 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); } .rail ul { display: flex; flex-wrap: wrap; gap: .2rem; } .rail li a { white-space: nowrap; padding: .2rem .4rem; font-size: .86rem; }
  html:has(main.slack) { scroll-padding-top: 10rem; }
  .split { grid-template-columns: minmax(0, 1fr); } .message { grid-template-columns: minmax(0, 1fr); padding: .5rem .25rem; } .message > .avatar { display: none; } .messages { padding: .6rem .9rem; } .thread .message { grid-template-columns: minmax(0, 1fr); }
  table.wide { min-width: 0; } table.wide thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.wide tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); } table.wide td { display: block; border: 0; padding: .1rem 0; }
  table.wide td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); }
}
@media (max-height: 30rem) { .top, .rail, .composer { position: static; } .rail { height: auto; } html, html:has(main.slack) { scroll-padding: 1rem 0; } }
@media (prefers-reduced-motion: no-preference) { button { transition: background .12s, border-color .12s; } }
`;
