import { describeSharedRemote } from '../support/shared-remote-suite.ts';

describeSharedRemote(3);
