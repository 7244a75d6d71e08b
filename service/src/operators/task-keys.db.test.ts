import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { KEY_MS } from '../kernel/request-key.ts'
import { forgetKeysAcrossTenants } from '../platform/db/request-keys.ts'
import { storedEvents } from '../records/calls.fixture.ts'
import { useTaskDesk } from './task-desk.fixture.ts'
import { TASK_KEYS } from './task-key-store.ts'

type Answer = { task: { id: string; status: string }; code: string; details: { path: string }[] }

const BODY = { customer_phone: '+12025550101', summary: 'A boat.', priority: 'high' }

const test = useDatabase()
const clock = new TestClock()
const server = useTaskDesk(test, clock)

async function make(key: string, body: object = BODY, tenant = 'acme') {
  const sent = { body, headers: { 'idempotency-key': key } }
  const { status, text, headers } = await server.send(tenant, 'POST', '/callback-tasks', sent)
  return { status, body: JSON.parse(text) as Answer, isReplay: headers['idempotent-replayed'] === 'true' }
}

async function countTasks(tenant = 'acme'): Promise<number> {
  return (await server.call<{ count: number }>(tenant, 'GET', '/callback-tasks')).body.count
}

describe('a callback task that is asked for again with the same Idempotency-Key', () => {
  it('is made and told once, and is answered as it is now', async () => {
    const first = await make('order-4711')
    expect(first).toMatchObject({ status: 200, isReplay: false, body: { task: { status: 'open' } } })
    await server.call('acme', 'POST', `/callback-tasks/${first.body.task.id}/claim`, { operator: 'ann' })
    const { priority, ...others } = BODY
    const again = await make('order-4711', { priority, ...others })
    const { id } = first.body.task
    expect(again).toMatchObject({ status: 200, isReplay: true, body: { task: { id, status: 'claimed' } } })
    const made = (await storedEvents(test.db)).filter(({ event }) => event === 'callback.task.created')
    expect([await countTasks(), made.length]).toEqual([1, 1])
  })

  it('is made once however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => make('k')))
    expect(new Set(answers.map(({ body }) => body.task.id)).size).toBe(1)
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
    expect(await countTasks()).toBe(1)
  })

  it('is refused with another body, and one that was refused may be mended', async () => {
    await make('k')
    const other = await make('k', { ...BODY, priority: 'low' })
    expect(other).toMatchObject({ status: 422, isReplay: false, body: { code: 'idempotency_mismatch' } })
    expect(await make('m', { ...BODY, priority: 'soon' })).toMatchObject({ status: 400 })
    expect(await make('m')).toMatchObject({ status: 200, isReplay: false })
    expect(await countTasks()).toBe(2)
  })

  it('is made anew after 24 h, whether or not the key was forgotten meanwhile', async () => {
    const first = await make('k')
    await clock.advance(KEY_MS - 1)
    expect(await make('k')).toMatchObject({ isReplay: true, body: { task: { id: first.body.task.id } } })
    await clock.advance(1)
    expect(await make('k')).toMatchObject({ status: 200, isReplay: false })
    const keys = () => test.db.selectFrom('callback_task_keys').select('key').execute()
    const forget = (before: Date) => forgetKeysAcrossTenants(test.db, TASK_KEYS, before)
    await forget(new Date(clock.now() - 1))
    expect(await keys()).toHaveLength(1)
    await forget(new Date(clock.now()))
    expect(await keys()).toEqual([])
    expect(await countTasks()).toBe(2)
  })

  it("is another tenant's own, and goes with the task", async () => {
    const { body } = await make('k')
    expect(await make('k', BODY, 'globex')).toMatchObject({ status: 200, isReplay: false })
    expect([await countTasks(), await countTasks('globex')]).toEqual([1, 1])
    await test.db
      .deleteFrom('callback_tasks')
      .where('id', '=', body.task.id as never)
      .execute()
    expect(await make('k')).toMatchObject({ status: 200, isReplay: false })
  })

  it('is answered with the task of this key and this tenant, whatever else was made of the same body', async () => {
    const asked = [
      ['k', 'acme'],
      ['m', 'acme'],
      ['k', 'globex'],
    ] as const
    const idOf = async ([key, tenant]: (typeof asked)[number]) => (await make(key, BODY, tenant)).body.task.id
    const made = [await idOf(asked[0]), await idOf(asked[1]), await idOf(asked[2])]
    expect(new Set(made).size).toBe(3)
    expect([await idOf(asked[0]), await idOf(asked[1]), await idOf(asked[2])]).toEqual(made)
  })

  it.each(['', 'x'.repeat(256), 'a key with ü'])('refuses the key %j', async (key) => {
    const answer = await make(key)
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '/headers/idempotency-key' }] } })
    expect(await countTasks()).toBe(0)
  })
})
