// The same property as in the short run, over more steps.

import "../walk/runs-table.test.ts";
