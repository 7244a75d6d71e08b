import { AppError } from '../kernel/errors.ts'
import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import { setFirstMark } from './installation-store.ts'

const MARK = 'sealing-key:'

/**
 * Makes sure that what is sealed in this database opens with this key: the first start notes a digest of its key, which
 * tells nothing about it, and later ones compare theirs.
 *
 * @throws AppError `unavailable` for another key: with it each sealed secret would fail by itself, and at a call.
 */
export async function expectSealingKey(db: Db, sealer: Sealer): Promise<void> {
  const mark = MARK + sealer.digest('the sealing key of this installation')
  const first = await db.transaction().execute((tx) => setFirstMark(tx, MARK, mark))
  if (first === mark) return
  throw new AppError(
    'unavailable',
    'ENCRYPTION_KEY is not the key that the secrets in this database are sealed with. Start with that one (unset, it is ' +
      'read from DATA_DIR/encryption.key), or with another database.',
  )
}
