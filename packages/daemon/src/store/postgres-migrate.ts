import type pg from 'pg';
import { newerStore } from './driver.ts';
import { type Migration, stepsAfter } from './migrations.ts';

/** One migrator at a time: the others wait for the lock and then find nothing to do. */
export async function migrate(client: pg.Client, schema: string, migrations: readonly Migration[]): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query("SELECT pg_advisory_xact_lock(hashtext('tidemill ' || $1))", [schema]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer PRIMARY KEY)');
    const { rows } = await client.query('SELECT coalesce(max(version), 0) AS version FROM schema_version');
    const version = Number(rows[0]?.version);
    const newest = migrations.at(-1)?.version ?? 0;
    if (version > newest) throw newerStore(version, newest);
    for (const step of stepsAfter(version, migrations)) {
      await client.query(step.postgres);
      await client.query('INSERT INTO schema_version VALUES ($1)', [step.version]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
