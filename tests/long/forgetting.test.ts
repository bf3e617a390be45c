// The same property as in the short run, over many more seeds.

import "../walk/forgetting.test.ts";
