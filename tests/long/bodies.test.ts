// The same bodies as in the short run, several times as large.

import "../walk/bodies.test.ts";
