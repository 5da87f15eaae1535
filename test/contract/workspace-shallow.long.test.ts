import { worksInShallowClones } from './shallow-suite.ts';

worksInShallowClones(['rebase', 'merge']);
