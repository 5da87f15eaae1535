export * from './command.ts';
export { decide } from './decide.ts';
export { reduce } from './reduce.ts';
export * from './schedule/ready.ts';
export * from './scope.ts';
export { Rows, Slice } from './slice.ts';
