import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import {
  type AccessRequestRow,
  type AccessRequestStatus,
  insertAccessRequest,
  listAccessRequests,
  lockAccessRequest,
  reviewAccessRequest,
} from './access-request-store.ts'
import { audit } from './audit-log.ts'
import { businessEmailFault } from './business-email.ts'
import { urlFault } from './tenant-rules.ts'

/** What somebody says who asks to become a tenant, and where that came from. */
export type NewAccessRequest = Omit<AccessRequestRow, 'id' | 'status' | 'metadata' | 'created_at' | 'reviewed_at'> & {
  /** The field that people do not see: who fills it in is an automaton. */
  honeypot: string
}

/** What is made of a request. No note leaves what there is; an empty one takes it away. */
type AccessReview = { status: AccessRequestStatus; note: string | null }

/** Who asks to become a tenant. */
export type AccessRequests = {
  /** Keeps the request, and has people told of it; that of an automaton as spam, of which nobody is told. @throws AppError `invalid_request` for an address of no company, or a blank name or use. */
  take(request: NewAccessRequest): Promise<string>
  /** Newest first. */
  list(status: AccessRequestStatus | null, page: PageRequest): Promise<Page<AccessRequestRow>>
  /** Notes what was made of a request; may be said again. The note stands in its metadata. @throws AppError `not_found`. */
  review(id: string, review: AccessReview, by: Actor): Promise<AccessRequestRow>
}

type Deps = {
  db: Db
  clock: Clock
  /** Tells those who review requests, once the transaction commits. */
  notify(tx: Tx, notice: { event: string; tenantId: null; subject: string; text: string }, now: Date): Promise<unknown>
}

export function makeAccessRequests({ db, clock, notify }: Deps): AccessRequests {
  return {
    async take({ honeypot, ...request }) {
      refuseFaults(request)
      const now = new Date(clock.now())
      const id = newId<string>(now.getTime())
      const status = honeypot === '' ? 'open' : 'spam'
      const row = { ...request, id, status, metadata: {}, created_at: now, reviewed_at: null } as const
      await db.transaction().execute(async (tx) => {
        await insertAccessRequest(tx, row)
        if (status === 'open') await notify(tx, noticeOf(row), now)
      })
      return id
    },
    async list(status, page) {
      const { rows, limit } = await listAccessRequests(db, status, page)
      return toPage(rows, limit, ({ created_at: createdAt, id }) => ({ createdAt, id }))
    },
    review: (id, { status, note }, by) =>
      db.transaction().execute(async (tx) => {
        const request = isUuid(id) ? await lockAccessRequest(tx, id) : null
        if (!request) throw new AppError('not_found', 'There is no such access request.')
        const now = new Date(clock.now())
        const reviewed_at = status === 'open' ? null : now
        const metadata = noted(request.metadata, note)
        const reviewed = await reviewAccessRequest(tx, id, { status, reviewed_at, metadata })
        const told = { before: shown(request), after: shown(reviewed), at: now }
        await audit(tx, { by, action: 'access_request.reviewed', tenantId: null, targetId: id, ...told })
        return reviewed
      }),
  }
}

function noted({ review_note: known, ...metadata }: AccessRequestRow['metadata'], note: string | null) {
  const stands = note ?? known
  return stands === undefined || stands === '' ? metadata : { ...metadata, review_note: stands }
}

/** Plain text. Anybody may have written it: what is ours stands before all of it, and none of it looks like another line of it. */
function noticeOf(request: AccessRequestRow) {
  const facts = [
    ['Company', request.company_name],
    ['Contact', request.contact_name],
    ['E-mail', request.work_email],
    ['Phone', request.phone],
    ['Role', request.role],
    ['Website', request.website],
    ['Minutes a month', request.expected_monthly_minutes],
    ['Timeline', request.timeline],
  ].filter(([, value]) => value !== '')
  const text = [
    `Somebody asks to become a tenant. Review it: PATCH /api/v1/admin/api-access-requests/${request.id}`,
    'What follows is what they wrote; nobody has checked it.',
    facts.map(([name, value = '']) => `${name}: ${value.replaceAll(/[\s\p{C}]+/gu, ' ')}`).join('\n'),
    `What for:\n${request.use_case.replaceAll(/^(?!\n)/gm, '  ')}`,
  ]
  const subject = `Access request: ${request.company_name}`
  return { event: 'access_request.created', tenantId: null, subject, text: `${text.join('\n\n')}\n` }
}

/** As the audit log tells it: nothing of who asked. */
function shown({ status, metadata }: AccessRequestRow) {
  return { status, metadata }
}

/** What has to be said, and may not be blank. */
const SAID = ['company_name', 'contact_name', 'use_case'] as const

function refuseFaults(request: Pick<AccessRequestRow, (typeof SAID)[number] | 'work_email' | 'website'>): void {
  const { work_email, website } = request
  const email = businessEmailFault(work_email)
  const site = website === '' ? null : urlFault(website)
  const blank = SAID.filter((name) => request[name].trim() === '')
  const faults = [
    ...blank.map((name) => ({ path: `/body/${name}`, message: 'must not be blank' })),
    ...(email === null ? [] : [{ path: '/body/work_email', message: email }]),
    ...(site === null ? [] : [{ path: '/body/website', message: site }]),
  ]
  const [first, ...others] = faults
  if (first) throw invalidRequest([first, ...others])
}
