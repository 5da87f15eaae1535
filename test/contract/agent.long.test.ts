import { describePatientAgents, VARIANTS } from './agent-suite.ts';

describePatientAgents(VARIANTS.slice(1));
