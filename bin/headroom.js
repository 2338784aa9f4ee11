#!/usr/bin/env node
// Starts the command line. A checkout runs from its TypeScript source; an installed package runs the
// compiled copy, because Node does not strip types below node_modules.
const installed = import.meta.url.includes("/node_modules/");
const [folder, ending] = installed ? ["../dist/cli", "js"] : ["../src/cli", "ts"];
// First of all, because it notes who started us.
await import(`${folder}/signals.${ending}`);
await import(`${folder}/main.${ending}`);
