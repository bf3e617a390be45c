// The same peers as in the short run, one of which sends an event of two hundred thousand metrics.

import "../walk/edge.test.ts";
