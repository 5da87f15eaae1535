import { z } from 'zod';

const Days = z.union([z.number().int().min(1).max(36_500), z.literal('never')], {
  error: 'is a number of days, or never',
});
const Megabytes = z.union([z.number().int().min(1), z.literal('unlimited')], {
  error: 'is a number of megabytes, or unlimited',
});

const byAge = (days: number) => z.strictObject({ days: Days.default(days) }).prefault({});
const byAgeAndSize = (days: number, megabytes: number) =>
  z.strictObject({ days: Days.default(days), megabytes: Megabytes.default(megabytes) }).prefault({});

/** How long a project's data is kept. Nothing of an unfinished task is ever removed. */
export const HousekeepingConfig = z.strictObject({
  /** Output of agents. Days count from the end of the task; the size is that of all of them. */
  runLogs: byAgeAndSize(30, 2000),
  /** Output of gates that no landed commit names. */
  gateLogs: byAgeAndSize(30, 2000),
  /** Output of gates that a landed commit names as its evidence. The receipts themselves stay for ever. */
  landedGateLogs: byAge(365),
  /** Output of deliveries. Their records stay for ever. */
  deliveryLogs: byAgeAndSize(365, 2000),
  /** Saved work of finished tasks. The newest snapshot of a task that did not land stays. */
  snapshots: byAge(90),
  /** Events that later ones superseded, such as heartbeats. All others stay for ever. */
  events: byAgeAndSize(30, 1000),
});
export type HousekeepingConfig = z.infer<typeof HousekeepingConfig>;
