import { worksInShallowClones } from './shallow-suite.ts';

worksInShallowClones(['squash']);
