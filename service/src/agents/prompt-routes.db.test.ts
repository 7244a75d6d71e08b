import { describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someText } from '../../test/harness/matchers.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeLog } from '../platform/log.ts'
import { promptRoutes } from './prompt-routes.ts'
import { makePrompts } from './prompts.ts'

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const admin = useAdminServer(() => [promptRoutes(makePrompts({ db: test.db, clock: systemClock, log }))])

const TIMES = { created_at: someInstant, updated_at: someInstant }
const etag = someText(/^"[0-9a-f]{32}"$/)
const put = (key: string, body: unknown, headers = {}) =>
  admin.call<{ prompt: { text: string; etag: string } }>('PUT', `/prompts/${key}`, { body, headers })

describe('prompts', () => {
  it('are created, read, replaced, listed and deleted', async () => {
    const prompt = { key: 'house-rules', text: 'Be kind, {{caller}}.', description: 'For all.', etag, ...TIMES }
    const answer = { status: 200, body: { ok: true, prompt } }
    expect(await put('house-rules', { text: prompt.text, description: 'For all.' })).toEqual(answer)
    expect(await admin.call('GET', '/prompts/house-rules')).toEqual(answer)
    await put('other', { text: 'Other.' })
    expect(await put('house-rules', { text: 'New.' })).toMatchObject({
      body: { prompt: { text: 'New.', description: '' } },
    })
    type List = { prompts: { key: string }[]; next_cursor: string }
    const first = await admin.call<List>('GET', '/prompts?limit=1')
    expect(first).toMatchObject({ status: 200, body: { ok: true, count: 1, prompts: [{ key: 'other' }] } })
    const rest = await admin.call<List>('GET', `/prompts?cursor=${first.body.next_cursor}`)
    expect(rest.body).toMatchObject({ count: 1, next_cursor: null, prompts: [{ key: 'house-rules' }] })
    expect(await admin.call('DELETE', '/prompts/house-rules')).toMatchObject({
      status: 200,
      body: { prompt: { text: 'New.' } },
    })
    expect(await admin.call('GET', '/prompts/house-rules')).toMatchObject({ status: 404 })
  })

  it('are made only where there is none yet with If-None-Match: *, one of those who make it at once', async () => {
    const make = (text: string) => put('once', { text }, { 'if-none-match': '*' })
    const texts = ['First.', 'Second.', 'Third.', 'Fourth.']
    const answers = await Promise.all(texts.map(make))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
    const stored = await admin.call('GET', '/prompts/once')
    expect(stored).toEqual(answers.find(({ status }) => status === 200))
    expect(await make('Fifth.')).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await admin.call('GET', '/prompts/once')).toEqual(stored)
  })

  it('are replaced only as they were read with If-Match', async () => {
    const { etag: read } = (await put('shared', { text: 'Ours.' })).body.prompt
    const { etag: changed } = (await put('shared', { text: 'Ours, too.' }, { 'if-match': read })).body.prompt
    expect(changed).not.toBe(read)
    expect(await put('shared', { text: 'Theirs.' }, { 'if-match': read })).toMatchObject({ status: 412 })
    expect(await put('shared', { text: 'Theirs.' }, { 'if-match': changed })).toMatchObject({ status: 200 })
    expect(await put('missing', { text: 'x' }, { 'if-match': '*' })).toMatchObject({ status: 412 })
  })

  it('are deleted only as they were read with If-Match', async () => {
    const { etag } = (await put('shared', { text: 'Ours.' })).body.prompt
    const remove = (tag: string) => admin.call('DELETE', '/prompts/shared', { headers: { 'if-match': tag } })
    expect(await remove('"another"')).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await admin.call('GET', '/prompts/shared')).toMatchObject({ status: 200 })
    expect(await remove(etag)).toMatchObject({ status: 200 })
  })

  it.each([
    ['no text', 'rules', {}, '/body/text'],
    ['an empty text', 'rules', { text: '' }, '/body/text'],
    ['an unknown field', 'rules', { text: 'x', key: 'rules' }, '/body/key'],
    ['a key that is none', '-rules', { text: 'x' }, '/path/key'],
    ['a key with a space', 'a%20b', { text: 'x' }, '/path/key'],
  ])('refuse %s', async (_what, key, body, path) => {
    expect(await put(key, body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('that there are not are 404', async () => {
    expect(await admin.call('GET', '/prompts/none')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await admin.call('DELETE', '/prompts/none')).toMatchObject({ status: 404 })
  })

  it.each([
    ['GET', '/prompts'],
    ['GET', '/prompts/rules'],
    ['PUT', '/prompts/rules'],
    ['DELETE', '/prompts/rules'],
  ] as const)('let nobody without the admin key %s %s', async (method, path) => {
    const body = method === 'PUT' ? { body: { text: 'x' } } : {}
    expect(await admin.call(method, path, { ...body, adminKey: null })).toMatchObject({ status: 401 })
  })
})
