// Groups with the run that they belong to today: their own, or the one that people joined it to. Whatever asks for the
// groups of a run asks here, so that joining and parting change one row a run and rewrite nothing.

/**
 * Can stand in place of a table; `own_run` is the run without joins. There are few joins, so one thread builds their hash
 * table; the engine's own choice would share out the groups between threads first.
 */
export function joinedGroups(database: string): string {
  return `(SELECT g.* EXCEPT (run_id), g.run_id AS own_run, if(into_run = '', own_run, into_run) AS run_id
    FROM ${database}.groups AS g FINAL
    LEFT JOIN (${joinsSql(database)}) AS j ON j.of_workspace = g.workspace AND j.of_run = g.run_id
    SETTINGS join_algorithm = 'hash')`;
}

/** Runs that are joined to others now. Its column names exist in no table. */
export function joinsSql(database: string): string {
  return `SELECT workspace AS of_workspace, run_id AS of_run, into_run FROM ${database}.joins FINAL WHERE parted = 0`;
}
