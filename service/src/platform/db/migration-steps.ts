import type { MigrationSteps } from './migrate.ts'
import type { Tx } from './schema.ts'
import { addSpellingsAcrossTenants, respellTasksAcrossTenants } from './steps/0108-number-spellings.ts'
import { respellContactsAcrossTenants } from './steps/0110-contact-spellings.ts'

/**
 * What is done behind the statements of a migration, by its name. As the files: none is changed once it has landed, so a step has its own
 * statements and asks no subject for them.
 */
export const MIGRATION_STEPS: MigrationSteps = {
  async '0108_number_spellings'(tx: Tx) {
    await addSpellingsAcrossTenants(tx)
    await respellTasksAcrossTenants(tx)
  },
  '0110_contact_spellings': respellContactsAcrossTenants,
}
