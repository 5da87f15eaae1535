import { DeliveryConfig } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { deliveryFaults } from './delivery-faults.ts';

const faultsOf = (...environments: object[]) =>
  deliveryFaults({
    delivery: DeliveryConfig.parse({ environments: environments.map((each) => ({ run: ['x'], ...each })) }),
  });

test.each<[object[], (string | number)[], string]>([
  [[{ name: 'staging' }, { name: 'staging' }], [1, 'name'], 'duplicate environment "staging"'],
  [[{ name: 'staging' }, { name: 'production', after: 'stagin' }], [1, 'after'], 'did you mean "staging"?'],
  [[{ name: 'production', after: 'staging' }, { name: 'staging' }], [0, 'after'], 'which is listed later'],
  [[{ name: 'staging', after: 'staging' }], [0, 'after'], 'comes after itself'],
  [[{ name: 'status' }], [0, 'name'], 'is a command of `tidemill deliver`'],
  [[{ name: 'staging', env: { 'A B': 'x' } }], [0, 'env'], 'is not a valid environment variable name'],
  [[{ name: 'staging', pass: ['TIDEMILL_COMMIT'] }], [0, 'pass'], 'is set by Tidemill'],
])('the environments %j have a fault at %j: %s', (environments, path, message) => {
  expect(faultsOf(...environments)).toMatchObject([
    { path: ['delivery', 'environments', ...path], message: expect.stringContaining(message) },
  ]);
});

test('environments in the right order have no faults', () => {
  expect(faultsOf({ name: 'preview' }, { name: 'staging', after: 'preview', pass: ['KEY'] })).toEqual([]);
});
