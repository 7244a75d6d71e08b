import { inject } from 'vitest'

/**
 * Whether this is the one of the two databases (the server, which asks less of the processor) on which `it.runIf(onOneDatabase())` runs what
 * no database has a part in: who hears what in a call, for example. What reads or writes rows is `it`, also where such a test shows
 * more of it, and what `service/test/interface` names, whose routes are broken on the embedded one.
 */
export const onOneDatabase = (): boolean => inject('databaseTemplate').kind === 'server'
