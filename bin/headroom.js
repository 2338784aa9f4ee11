#!/usr/bin/env node
// Starts the command line. A checkout runs from its TypeScript source; an installed package runs the
// compiled copy, because Node does not strip types below node_modules.
const installed = import.meta.url.includes("/node_modules/");
await import(installed ? "../dist/cli/main.js" : "../src/cli/main.ts");
