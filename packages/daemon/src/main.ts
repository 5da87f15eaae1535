import { PROGRAM_VERSION } from './version.ts';

// Scripts ask for the version more often than people do: it is known without loading the rest.
const [only, ...more] = process.argv.slice(2);
if ((only === '--version' || only === '-V') && more.length === 0) console.log(PROGRAM_VERSION);
else {
  // Before any schema is made: each takes the setting as it finds it.
  const { interpretSchemas, isLasting } = await import('./cli/schema-mode.ts');
  if (!isLasting(only)) interpretSchemas();
  const { run } = await import('./cli/run.ts');
  await run(process.argv);
}
