import { findsLosses } from './merge-loss-suite.ts';

findsLosses(40);
