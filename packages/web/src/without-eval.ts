// Zod compiles parsers at run time where it may. Our content security policy forbids it, and the mere attempt would be
// reported, so it is told before it is loaded: this must stay the first import of the program.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
