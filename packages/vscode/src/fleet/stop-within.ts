import type { Api, EmergencyImpact, RouteOutput } from '@tidemill/contract';

const PREVIEW_MS = 3000;
/** The daemon needs at most nine seconds. One that takes longer hangs. */
const STOP_MS = 12_000;

/** What the stop would end. Null when the daemon cannot list it in time; it can be stopped nevertheless. */
export const previewOf = (
  api: Api,
  onFailure: (error: unknown) => void,
  limitMs = PREVIEW_MS,
): Promise<EmergencyImpact | null> => api.emergencyImpact({}, AbortSignal.timeout(limitMs)).catch(failed(onFailure));

/** Stops every agent. Null when the daemon did not do it in time: then it must be killed. */
export const stopWithin = (
  api: Api,
  order: { by: string; reason: string },
  onFailure: (error: unknown) => void,
  limitMs = STOP_MS,
): Promise<RouteOutput<'emergencyStop'> | null> =>
  api.emergencyStop(order, AbortSignal.timeout(limitMs)).catch(failed(onFailure));

const failed = (onFailure: (error: unknown) => void) => (error: unknown) => {
  onFailure(error);
  return null;
};
