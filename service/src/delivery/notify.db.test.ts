import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { type MailServer, startMailServer } from '../../test/harness/mail-server.ts'
import { until } from '../../test/harness/wait.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeNotify, type Notice } from './notify.ts'

const test = useDatabase()
const settings: Record<string, string> = {}
let mail: MailServer
beforeEach(async () => {
  mail = await startMailServer()
  Object.assign(settings, {
    NOTIFY_SMTP_URL: `smtp://ann:secret@127.0.0.1:${mail.port}`,
    NOTIFY_FROM: 'parley@voice.example',
    NOTIFY_TO: 'ops@voice.example, team@voice.example',
  })
})
const app = useCallApp(test, { settings })
afterEach(() => mail.close())

const ASKED = { company_name: 'Acme', contact_name: 'Ann', work_email: 'ann@acme.example', use_case: 'Booking.\nSoon.' }
const ask = (body: object) => app.served.call(null, 'POST', '/access-requests', { ...ASKED, ...body })

const NOTICE: Notice = { event: 'test.told', tenantId: null, subject: 'A subject', text: 'A text.' }
const notify = makeNotify({ recipients: ['ops@voice.example'] })
const tell = (notice: Partial<Notice> = {}) =>
  test.database.db.transaction().execute((tx) => notify(tx, { ...NOTICE, ...notice }, new Date(app.clock.now())))

const rows = () =>
  test.db
    .selectFrom('notification_outbox')
    .select(['tenant_id', 'event', 'status', 'attempts', 'url', 'last_status_code', 'last_error', 'body'])
    .orderBy('created_at')
    .execute()

type Depth = { depths: { table: string; pending: number; delivered: number; failed: number }[] }
async function depth() {
  const { depths } = await app.served.administer<Depth>('GET', '/outboxes/depth')
  return depths.find(({ table }) => table === 'notification_outbox')
}

describe('a notice', () => {
  it('of an access request is mailed to each of those who review it, once', async () => {
    const { body } = await ask({ company_name: 'Acme\r\nBcc: eve@evil.example', website: 'https://acme.example' })
    const mails = await mail.receive(2)
    const [told] = mails
    expect(mails.map(({ to }) => to).sort()).toEqual([['ops@voice.example'], ['team@voice.example']])
    expect(told?.from).toBe('parley@voice.example')
    expect(told?.header).toContain('Subject: Access request: Acme Bcc: eve@evil.example')
    expect(told?.text).toContain(
      'E-mail: ann@acme.example\nWebsite: https://acme.example\n\nWhat for:\n  Booking.\n  Soon.',
    )
    expect(told?.text).toContain(String(body['request_id']))
    await app.pass(async () => (await depth())?.delivered === 2, 'the mails to be settled')
    const delivered = { event: 'access_request.created', status: 'delivered', attempts: 1, last_status_code: 250 }
    expect(await rows()).toMatchObject([
      { tenant_id: '', ...delivered },
      { tenant_id: '', ...delivered },
    ])
    expect((await rows())[0]?.url).toBe(`smtp://127.0.0.1:${mail.port}`)
    const login = { username: 'ann', password: 'secret' }
    expect(mail.logins).toEqual([login, login])
  })

  it('of spam goes to nobody', async () => {
    expect((await ask({ company_website_confirm: 'https://x' })).status).toBe(202)
    expect(await rows()).toEqual([])
  })

  it('that the server does not take is tried again, and kept when it never does', async () => {
    mail.refusal = { code: 451, words: 'not now' }
    await tell()
    await until(async () => (await rows())[0]?.last_error !== null, { what: 'the first attempt' })
    expect(await rows()).toMatchObject([{ status: 'pending', attempts: 1, last_status_code: 451 }])
    // Before the second attempt, five seconds later: the third comes minutes after that, for which a test would wait too long.
    mail.refusal = null
    await app.pass(() => mail.mails.length === 1, 'the mail')
    await app.pass(async () => (await depth())?.delivered === 1, 'the mail to be settled')
    expect(await rows()).toMatchObject([{ status: 'delivered', attempts: 2 }])
  })

  it('that the server never takes is kept as failed', async () => {
    mail.refusal = { code: 550, words: 'never' }
    await tell()
    await app.pass(async () => (await rows())[0]?.last_error !== null, 'the first attempt')
    const ended = (attempt: number) => ({ attempt, at: '', status_code: 550, error: 'never', duration_ms: 1 })
    await test.db
      .updateTable('notification_outbox')
      .set({ attempts: 7, attempt_log: JSON.stringify([1, 2, 3, 4, 5, 6, 7].map(ended)) })
      .execute()
    await app.pass(async () => (await depth())?.failed === 1, 'it to be given up')
    const given = { status: 'failed', attempts: 8, last_error: expect.stringContaining('never') }
    expect(await rows()).toMatchObject([given])
  })

  it('goes to somebody else where it names them, and tells of a tenant where it has one', async () => {
    await tell({ tenantId: 'acme' as TenantId, to: 'lead@acme.example' })
    expect((await mail.receive(1))[0]?.to).toEqual(['lead@acme.example'])
    expect((await rows())[0]?.tenant_id).toBe('acme')
  })

  it('is one line of subject and a plain text, and no longer than people read', async () => {
    await tell({ subject: `A\r\nB\u0000\u202e${'s'.repeat(300)}`, text: `a\r\nb\u001b[31m\tc${'t'.repeat(30_000)}` })
    const [{ body } = {}] = await rows()
    const { subject, text } = body ?? { subject: '', text: '' }
    expect([subject.length, text.length]).toEqual([200, 20_000])
    expect([subject.slice(0, 6), text.slice(0, 10)]).toEqual(['A B ss', 'a\nb[31m\tct'])
  })

  it('is not written down where the transaction fails, or no mail is set', async () => {
    const lost = test.db.transaction().execute(async (tx) => {
      await notify(tx, NOTICE, new Date(app.clock.now()))
      throw new Error('undone')
    })
    await expect(lost).rejects.toThrow('undone')
    const told = await test.db
      .transaction()
      .execute((tx) => makeNotify({ recipients: null })(tx, NOTICE, new Date(app.clock.now())))
    expect([told, await rows()]).toEqual([false, []])
  })
})
