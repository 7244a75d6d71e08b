import { addSpellingsAcrossTenants } from './operators/do-not-call-spellings.ts'
import type { MigrationSteps } from './platform/db/migrate.ts'

/** What is done behind the statements of a migration, by its name. As the files: none is changed once it has landed. */
export const MIGRATION_STEPS: MigrationSteps = { '0108_do_not_call_spellings': addSpellingsAcrossTenants }
