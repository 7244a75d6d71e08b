import type { PageRequest } from '../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'

/** open: nobody has looked at it. spam: an automaton sent it, or a person said so. */
export const ACCESS_REQUEST_STATUSES = ['open', 'approved', 'rejected', 'spam'] as const
export type AccessRequestStatus = (typeof ACCESS_REQUEST_STATUSES)[number]

/** Somebody who asks to become a tenant. What was not said is empty. */
export type AccessRequestRow = {
  id: string
  status: AccessRequestStatus
  company_name: string
  contact_name: string
  work_email: string
  use_case: string
  phone: string
  role: string
  timeline: string
  website: string
  expected_monthly_minutes: string
  source: string
  remote_addr: string
  user_agent: string
  metadata: Record<string, unknown>
  created_at: Date
  reviewed_at: Date | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    access_requests: AccessRequestRow
  }
}

export async function insertAccessRequest(db: Db, request: AccessRequestRow): Promise<void> {
  await db.insertInto('access_requests').values(request).execute()
}

/** A page of them, newest first, those of a status or all. */
export function listAccessRequests(
  db: Db,
  status: AccessRequestStatus | null,
  page: PageRequest,
): Promise<FittingRows<AccessRequestRow>> {
  const query = db
    .selectFrom('access_requests')
    .selectAll()
    .$if(status !== null, (query) => query.where('status', '=', status))
    .$call(newestFirst('access_requests', page))
  return fittingRows(db, query, ['use_case', 'website', 'metadata'], page.limit)
}

/** The request, kept from changing until the transaction ends. */
export async function lockAccessRequest(db: Db, id: string): Promise<AccessRequestRow | null> {
  const row = await db.selectFrom('access_requests').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return row ?? null
}

/** To be called with `lockAccessRequest`. */
export function reviewAccessRequest(
  db: Db,
  id: string,
  review: Pick<AccessRequestRow, 'status' | 'reviewed_at' | 'metadata'>,
): Promise<AccessRequestRow> {
  return db.updateTable('access_requests').set(review).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}
