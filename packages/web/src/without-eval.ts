// Zod tries to compile parsers at run time. Our content security policy forbids that, and even the attempt is reported.
// This setting must come before zod loads, so this must stay the first import.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
