/**
 * The least that takes a task over HTTP and keeps it: node:http, one INSERT, one fsync. Prints its address when it
 * listens. Started by the bench with the database's path; without one it keeps nothing.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const [file] = process.argv.slice(2);
const db = file ? new DatabaseSync(file) : null;
db?.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE tasks (id INTEGER PRIMARY KEY, doc TEXT NOT NULL) STRICT;`);
const insert = db?.prepare('INSERT INTO tasks (doc) VALUES (?) RETURNING id');

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const task = JSON.parse(body) as object;
  const id = insert?.get(JSON.stringify(task))?.id;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id, ...task }));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
