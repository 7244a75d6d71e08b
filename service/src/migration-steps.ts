import { respellContactsAcrossTenants } from './calls/campaigns/contact-spellings.ts'
import { addSpellingsAcrossTenants } from './operators/do-not-call-spellings.ts'
import { respellTasksAcrossTenants } from './operators/task-spellings.ts'
import type { MigrationSteps } from './platform/db/migrate.ts'
import type { Tx } from './platform/db/schema.ts'

/** What is done behind the statements of a migration, by its name. As the files: none is changed once it has landed. */
export const MIGRATION_STEPS: MigrationSteps = {
  async '0108_number_spellings'(tx: Tx) {
    await addSpellingsAcrossTenants(tx)
    await respellTasksAcrossTenants(tx)
  },
  '0110_contact_spellings': respellContactsAcrossTenants,
}
