import type { Actor } from '../../kernel/actor.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, invalidRequest } from '../../kernel/errors.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { maskPhone } from '../../kernel/masks.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pages.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Sealer } from '../../kernel/seal.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import type { Db } from '../../platform/db/schema.ts'
import { audit } from '../../tenancy/audit-log.ts'
import { findHolder } from '../../tenancy/phone-number-store.ts'
import { contextOf, type ErasingNumber } from './erasing-number.ts'
import {
  findNumberErasure,
  findOpenErasure,
  insertNumberErasure,
  listNumberErasures,
  type NumberErasureRow,
} from './number-erasure-store.ts'
import { numberMention } from './number-mention.ts'
import { hasLiveCall } from './number-subject-store.ts'

/** Erases what a tenant keeps of telephone numbers. */
export type NumberErasures = {
  /**
   * Writes down that a number is to be erased, and begins with it at once: as a rule it is done with the answer. What takes longer than
   * some seconds a sweep goes on with.
   * A number that is being erased already is told as it is. What is written down later, as of a later call, stays.
   *
   * @throws AppError `conflict` while a call with the number is live; `invalid_request` for a number of the tenant's own.
   */
  request(tenantId: TenantId, phone: PhoneNumber, by: Actor): Promise<NumberErasureRow>
  /** Newest first. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<NumberErasureRow>>
  /** @throws AppError `not_found` for one that the tenant does not have. */
  get(tenantId: TenantId, id: string): Promise<NumberErasureRow>
}

/** Each is another request of the same number that came to its end meanwhile. */
const MAX_TRIES = 10

type Deps = { db: Db; clock: Clock; sealer: Sealer; erasing: Pick<ErasingNumber, 'goOn'> }

export function makeNumberErasures({ db, clock, sealer, erasing }: Deps): NumberErasures {
  async function writeDown(tenantId: TenantId, phone: PhoneNumber, by: Actor): Promise<NumberErasureRow> {
    const at = new Date(clock.now())
    const id = newId<string>(at.getTime())
    const row: NumberErasureRow = {
      ...{ tenant_id: tenantId, id, phone_masked: maskPhone(phone), created_at: at, completed_at: null },
      phone_hash: sealer.digest(`erased number of ${tenantId}: ${phone}`),
      phone_sealed: sealer.seal(phone, contextOf(tenantId, id)),
      ...{ actor_kind: by.kind, actor: by.name, actor_id: by.kind === 'person' ? by.userId : null },
      ...{ counts: {}, progress: null, claim_token: null, leased_until: null },
    }
    return db.transaction().execute(async (tx) => {
      if (await hasLiveCall(tx, tenantId, numberMention(phone)))
        throw new AppError('conflict', 'A call with this number is live: wait for its end, or end it.')
      // One that is open may be completed between two statements: then this is a new one after all.
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (await insertNumberErasure(tx, tenantId, row)) {
          const after = { phone: row.phone_masked }
          await audit(tx, { by, action: 'number_erasure.requested', tenantId, targetId: id, after, at })
          return row
        }
        const open = await findOpenErasure(tx, tenantId, row.phone_hash)
        if (open) return open
      }
      throw new AppError('unavailable', 'This number is being erased over and over: ask again.')
    })
  }

  return {
    async request(tenantId, phone, by) {
      if ((await findHolder(db, phone)) === tenantId) {
        throw invalidRequest([
          { path: '/body/phone', message: 'is a number of yours: take it off your routes and your document first' },
        ])
      }
      const { id } = await writeDown(tenantId, phone, by)
      await erasing.goOn(id)
      return (await findNumberErasure(db, tenantId, id)) ?? unknown()
    },
    async list(tenantId, { limit, offset, after }) {
      const rows = await listNumberErasures(db, tenantId, { limit: limit + 1, offset, after })
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async get(tenantId, id) {
      return (isUuid(id) && (await findNumberErasure(db, tenantId, id))) || unknown()
    },
  }
}

function unknown(): never {
  throw new AppError('not_found', 'There is no such erasure.')
}
