import { describe } from 'vitest';
import { landsEveryTask } from './crowd-suite.ts';

describe('the simulation of a crowd', () => landsEveryTask(2, 2));
