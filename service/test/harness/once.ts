import { inject, it } from 'vitest'

/**
 * `it`, on one of the two databases alone (the server, which asks less of the processor): for what no database has a part in, who hears
 * what in a call for example. What reads or writes rows is `it`, also where such a test shows more of it.
 */
export const itOnce = it.runIf(inject('databaseTemplate').kind === 'server')
