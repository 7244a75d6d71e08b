import { describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant } from '../../test/harness/matchers.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeLog } from '../platform/log.ts'
import { promptRoutes } from './prompt-routes.ts'
import { makePrompts } from './prompts.ts'

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const admin = useAdminServer(() => [promptRoutes(makePrompts({ db: test.db, clock: systemClock, log }))])

const TIMES = { created_at: someInstant, updated_at: someInstant }
const put = (key: string, body: unknown) => admin.call('PUT', `/prompts/${key}`, { body })

describe('prompts', () => {
  it('are created, read, replaced, listed and deleted', async () => {
    const prompt = { key: 'house-rules', text: 'Be kind, {{caller}}.', description: 'For all.', ...TIMES }
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
